import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { addCosts, readRun, readTranscript, type CostSum, type TranscriptLine } from '@mound/swarm';
import type { Repo } from '@mound/vcs';

/** What the agents of one role spent and held in their context. */
export interface RoleSpend {
  readonly requests: number;
  /** US dollars of requests whose price is known; undefined where that of none is. */
  readonly usd: number | undefined;
  /** Requests of which nobody says what they cost. */
  readonly unknownRequests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Tokens of some request were counted by length, since nobody reports them. */
  readonly estimatedTokens: boolean;
  /** Input tokens of each request, in the order of their size. */
  readonly context: readonly number[];
}

export type SpendByRole = Readonly<Record<string, RoleSpend>>;

interface Tokens {
  inputTokens: number;
  outputTokens: number;
  isEstimated: boolean;
  readonly context: number[];
}

/** From the records of the run's agents (money) and their transcripts (tokens of each request). */
export function spendOf(repo: Repo, run: string): SpendByRole {
  const view = readRun(repo, run as Parameters<typeof readRun>[1]);
  const costs = new Map<string, CostSum>();
  for (const { role, cost } of view?.agents ?? []) costs.set(role, addCosts(costs.get(role), cost));
  const tokens = tokensIn(join(repo.dir, '.mound', 'swarm', run));
  const roles = [...new Set([...costs.keys(), ...tokens.keys()])].toSorted();
  return Object.fromEntries(roles.map((role) => [role, roleSpend(costs.get(role), tokens.get(role))]));
}

function roleSpend(cost: CostSum | undefined, tokens: Tokens | undefined): RoleSpend {
  const { requests = 0, nanoUsd = 0, unknownRequests = 0 } = cost ?? {};
  return {
    requests,
    usd: requests > unknownRequests ? nanoUsd / 1e9 : undefined,
    unknownRequests,
    inputTokens: tokens?.inputTokens ?? 0,
    outputTokens: tokens?.outputTokens ?? 0,
    estimatedTokens: tokens?.isEstimated ?? false,
    context: (tokens?.context ?? []).toSorted((a, b) => a - b),
  };
}

function tokensIn(directory: string): Map<string, Tokens> {
  const byRole = new Map<string, Tokens>();
  for (const name of namesIn(directory)) takeTranscript(readTranscript(join(directory, name)).lines, byRole);
  return byRole;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => name.endsWith('.jsonl'));
  } catch {
    return [];
  }
}

/** What is reported counts; where nobody says, the length of what was asked and answered. */
function takeTranscript(lines: readonly TranscriptLine[], byRole: Map<string, Tokens>): void {
  let tokens: Tokens | undefined;
  let guessed = 0;
  /** The output of the last request is to be estimated from the message that stands next. */
  let isOpen = false;
  for (const line of lines) {
    if (line.kind === 'start') {
      tokens = byRole.get(line.role) ?? { inputTokens: 0, outputTokens: 0, isEstimated: false, context: [] };
      byRole.set(line.role, tokens);
    }
    if (tokens === undefined) continue;
    if (line.kind === 'asked') guessed = line.guess.usage?.inputTokens ?? 0;
    if (line.kind === 'spent') {
      const used = line.spent.flatMap(({ usage }) => (usage === undefined || usage.inputTokens === 0 ? [] : [usage]));
      isOpen = used.length === 0;
      tokens.isEstimated ||= isOpen || used.some(({ estimated }) => estimated);
      tokens.inputTokens += isOpen ? guessed : used.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
      tokens.outputTokens += used.reduce((sum, { outputTokens }) => sum + outputTokens, 0);
      tokens.context.push(used.at(-1)?.inputTokens ?? guessed);
    }
    if (line.kind !== 'message' || line.message.role !== 'assistant' || !isOpen) continue;
    const { content, calls } = line.message;
    tokens.outputTokens += Math.ceil(Buffer.byteLength(content + JSON.stringify(calls)) / 4);
    isOpen = false;
  }
}
