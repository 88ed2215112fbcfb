import { runAgent, type AgentEnd } from '../agent/agent.ts';
import type { Decision } from '../core/brief.ts';
import type { AgentId } from '../core/ids.ts';
import type { Role } from '../core/role.ts';
import type { Message } from '../model/model.ts';
import type { Tool } from '../tools/tool.ts';
import { Toolset } from '../tools/toolset.ts';
import { AgentLife, type LifeOptions } from './agent-life.ts';
import { briefOf, decisionsOf } from './decisions.ts';
import type { Desk } from './desk.ts';
import { system } from './run-header.ts';
import type { LeaseTimer } from './lease-timer.ts';
import type { RunContext } from './run-context.ts';

export interface AgentRun {
  readonly agent: AgentId;
  readonly life: AgentLife;
  readonly role: Role;
  readonly brief: string;
  readonly history: readonly Message[];
  readonly tools: readonly Tool[];
  /** Changes when the tree or the plan does. */
  readonly progress: () => string | number;
  readonly lease?: LeaseTimer;
  readonly signal: AbortSignal;
}

/** Runs one agent of the desk, whose events tell of its waits and troubles. */
export async function runOne(context: RunContext, desk: Desk, parts: AgentRun): Promise<AgentEnd> {
  const { agent, life, role, brief, history, tools, progress, lease, signal } = parts;
  const end = await runAgent({
    agent,
    role,
    model: context.model(role),
    brief,
    history,
    toolset: new Toolset(role, tools),
    signal,
    answerCharsMax: context.parts.limits.answerCharsMax,
    hooks: life,
    progress,
    onWarning: ({ code, says }) => desk.dispatch({ kind: 'agent.warned', agent, code, says }),
    onNotice: (notice) => {
      switch (notice.kind) {
        case 'waiting':
          lease?.pause();
          return desk.dispatch({ kind: 'agent.waiting', agent, until: notice.until, reason: notice.reason });
        case 'asking':
          lease?.resume();
          return desk.dispatch({ kind: 'agent.resumed', agent });
        case 'fallback': {
          const says = `${notice.to} answers instead of ${notice.from}: ${notice.reason}`;
          return desk.dispatch({ kind: 'agent.warned', agent, code: 'fallback', says });
        }
      }
    },
  });
  if (context.guide?.isDue === true) await context.guide.flush(system);
  return end;
}

/** Decisions and Field Guide, as they stand when an agent starts. */
export function surroundingsOf(context: RunContext): { decisions?: readonly Decision[]; guide?: string } {
  const decisions = decisionsOf(context).map(briefOf);
  const guide = context.guide?.shown() ?? '';
  return { ...(decisions.length > 0 && { decisions }), ...(guide !== '' && { guide }) };
}

/** What an agent spends and says, as it is kept. */
export function lifeOf(
  context: RunContext,
  desk: Desk,
  options: Pick<LifeOptions, 'agent' | 'role' | 'task' | 'generation' | 'base' | 'goesOn'> & { conflict?: string },
  onTurn: () => void,
  freshen: () => string | undefined = () => undefined,
): AgentLife {
  const [draws] = context.drawChain(options.task);
  return new AgentLife(context, {
    ...options,
    draws,
    spender: { role: options.role.name, agent: options.agent, task: options.task },
    gate: () => desk.gate(),
    // What is told to a task is not for the neutral agent that works beside it.
    takeNotices: () => {
      const told = options.conflict === undefined ? desk.takeNotices(options.task) : [];
      const delta = context.isOn('fresh-reads') ? freshen() : undefined;
      if (delta === undefined) return told;
      desk.dispatch({ kind: 'agent.told', agent: options.agent, chars: delta.length });
      return [...told, delta];
    },
    onTurn,
  });
}
