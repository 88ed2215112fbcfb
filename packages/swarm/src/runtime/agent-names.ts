import { agentIdOf, type AgentId } from '../core/ids.ts';
import { eachKind, type RoleKind } from '../core/role.ts';
import { authorsOfSides } from './repo-merger.ts';
import type { RunContext } from './run-context.ts';

/** Names are used again, so that there are no more than agents at once; a merger's is of one that wrote neither side. */
export class AgentNames {
  readonly #context: RunContext;
  readonly #names = eachKind((): { count: number; readonly free: AgentId[] } => ({ count: 0, free: [] }));

  constructor(context: RunContext) {
    this.#context = context;
  }

  /** Distinct ones. */
  get count(): number {
    return Object.values(this.#names).reduce((sum, { count }) => sum + count, 0);
  }

  /** `conflicts`: of a merger. */
  take(role: RoleKind, conflicts: readonly string[] = []): AgentId {
    const { repo } = this.#context;
    const authors = new Set(conflicts.flatMap((id) => [...authorsOfSides(repo, repo.conflict(id))]));
    const isNeutral = (agent: AgentId): boolean => !authors.has(this.#context.agentName(agent));
    const names = this.#names[role];
    const at = names.free.findIndex(isNeutral);
    const [again] = at < 0 ? [] : names.free.splice(at, 1);
    if (again !== undefined) return again;
    // A new name may be an author's too, where another process runs the same run.
    for (;;) {
      const agent = agentIdOf(role, ++names.count);
      if (isNeutral(agent)) return agent;
      names.free.push(agent);
    }
  }

  release(role: RoleKind, agent: AgentId): void {
    this.#names[role].free.push(agent);
  }
}
