import { any, ruleRecord, type RecordWrite, type Repo } from '@mound/vcs';
import { taskNameOf, type AgentId, type RunId } from '../core/ids.ts';
import type { Task } from '../core/task.ts';

const stemOf = (run: RunId): string => `swarm/${run}/`;

/** A path as a pattern that fits it and what is below it, whatever its letters mean in patterns. */
const literal = (path: string): string => path.replaceAll(/[\\*?[]/g, String.raw`\$&`);

/**
 * What a claim writes so that the store itself keeps its agent within the task's scope, in whatever process it lands.
 * Neutral agents that act for a task (a merger, a decomposer) are of other roles. One rule for each name of an agent:
 * the next claim under it takes its place, so that there are never more than agents.
 */
export function scopeRule(run: RunId, { id, scope, role }: Task, agent: AgentId): RecordWrite[] {
  if (scope.length === 0) return [];
  const to = { tasks: [taskNameOf(run, id)], roles: [role] };
  return [ruleRecord(`${stemOf(run)}${agent}`, { kind: 'scope', to, paths: scope.map(literal) }, any)];
}

/** What takes the rules of a run away when nobody works for it any more. */
export const withoutScopeRules = (repo: Repo, run: RunId): RecordWrite[] =>
  repo
    .snapshot()
    .records(`mound/rules/${stemOf(run)}`)
    .map(({ key }) => ({ key, expect: any, value: null }));
