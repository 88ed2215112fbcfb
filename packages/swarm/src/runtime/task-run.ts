import type { AgentEnd } from '../agent/agent.ts';
import type { AgentId, TaskId } from '../core/ids.ts';
import type { Role } from '../core/role.ts';
import { emptyHandoff, type Task, type TaskOutcome, type TaskReport } from '../core/task.ts';
import { noUsage } from '../core/usage.ts';
import { outcomeAnswer } from '../tools/outcome-answer.ts';
import type { ToolAnswer } from '../tools/tool.ts';
import type { AgentLife } from './agent-life.ts';
import type { Desk } from './desk.ts';
import type { RunContext } from './run-context.ts';
import { scopeRule } from './scope-rule.ts';
import type { Claim } from './task-book.ts';

/** What a call that was cut off came to, as far as the store knows. */
function interruptedAnswer(context: RunContext, operationId: string, tool: string): ToolAnswer | undefined {
  const outcome = context.repo.outcome(operationId);
  if (outcome === undefined) return undefined;
  if (['edit', 'write', 'patch', 'run'].includes(tool)) {
    return { ok: true, says: 'interrupted, but the edit was kept: read the file to see it' };
  }
  const answer = outcomeAnswer(outcome);
  return { ...answer, says: `interrupted, but the repository has it: ${answer.says}` };
}

/** Claims the task for an agent; undefined where there is nothing (more) to do, which is told. */
async function claim(context: RunContext, desk: Desk, agent: AgentId, task: Task): Promise<Claim | undefined> {
  const attempts = desk.attemptsOf(task.id);
  const answer = await context.book.claim({
    task: task.id,
    agent,
    author: context.author(context.role(task.role), agent),
    leaseMs: context.parts.limits.leaseMs,
    attempts,
    // A second attempt, or a resumed run, follows on one that has been declared over.
    takeOver: attempts > 0 || desk.isResumed,
    records: context.role(task.role).kind === 'worker' ? scopeRule(context.run, task, agent) : [],
  });
  if (answer.kind === 'claimed') {
    desk.dispatch({ kind: 'task.claimed', task: task.id, agent, generation: answer.claim.generation });
    return answer.claim;
  }
  const isDone = answer.kind === 'done';
  const outcome: TaskOutcome = isDone ? 'landed' : 'none';
  const concerns = [isDone ? 'an earlier worker had landed it' : 'another claimer holds it'];
  const commits = isDone ? answer.record.operations : [];
  const handoff = { ...emptyHandoff, status: isDone ? ('done' as const) : ('failed' as const), commits, concerns };
  const seq = isDone ? { seq: answer.seq } : {};
  desk.dispatch({ kind: 'task.finished', task: task.id, report: { task: task.id, agent, outcome, ...seq, handoff } });
  return undefined;
}

/** What an agent needs to begin a task; undefined where it could not claim it. */
export async function takeUp(
  context: RunContext,
  desk: Desk,
  agent: AgentId,
  id: TaskId,
): Promise<{ readonly task: Task; readonly held: Claim; readonly role: Role } | undefined> {
  const task = context.mustTask(id);
  const held = await claim(context, desk, agent, task);
  return held && { task, held, role: context.role(task.role) };
}

/** Where its transcript ends it goes on; calls that were cut off are answered with what the store knows. */
export function historyOf(context: RunContext, life: AgentLife, id: TaskId): ReturnType<AgentLife['history']> {
  const earlier = life.recalled?.generation ?? 0;
  return life.history((key, tool) => interruptedAnswer(context, `${context.run}/${id}/${earlier}/${key}`, tool));
}

export const lost: AgentEnd = { reason: 'lost', turns: 0, usage: noUsage };

/** Tells the swarm what became of a task; one that stops with the run stays as it is. */
export function settle(desk: Desk, id: TaskId, agent: AgentId, end: AgentEnd, report: TaskReport | undefined): void {
  if (report !== undefined) desk.dispatch({ kind: 'task.finished', task: id, report });
  else if (!desk.isStopping && desk.isHolder(id, agent)) {
    desk.dispatch({ kind: 'task.reopened', task: id, agent, reason: end.detail ?? end.reason });
  }
}
