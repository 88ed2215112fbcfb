import type { Spend } from '../core/usage.ts';
import type { CostLedger, Spender } from '../cost/cost-ledger.ts';
import type { TranscriptLine } from './transcript.ts';

export interface LifeSum {
  readonly turns: number;
  /** Of its requests. */
  readonly ms: number;
  /** A request that has no end yet, and what it may cost. */
  readonly asked: Spend | undefined;
}

/** Adds up what one life in a transcript has spent. */
export function sumLife(lines: readonly TranscriptLine[], costs: CostLedger, spender: Spender): LifeSum {
  let [turns, ms] = [0, 0];
  let asked: Spend | undefined;
  for (const line of lines) {
    if (line.kind === 'message' && line.message.role === 'assistant') turns += 1;
    if (line.kind === 'asked') asked = line.guess;
    if (line.kind !== 'spent') continue;
    asked = undefined;
    ms += line.ms;
    costs.record(spender, line.spent);
  }
  return { turns, ms, asked };
}

export interface Life {
  readonly start: Extract<TranscriptLine, { kind: 'start' }>;
  readonly lines: TranscriptLine[];
}

/** A file holds the lives of one task's agents, each begins with `start`. */
export function livesIn(lines: readonly TranscriptLine[]): Life[] {
  const lives: Life[] = [];
  for (const line of lines) {
    if (line.kind === 'start') lives.push({ start: line, lines: [line] });
    else lives.at(-1)?.lines.push(line);
  }
  return lives;
}
