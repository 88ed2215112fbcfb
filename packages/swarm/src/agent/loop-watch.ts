import type { JsonValue } from '../core/json.ts';
import type { ToolCall } from '../model/model.ts';
import type { ToolAnswer } from '../tools/tool.ts';

/** One call with its answer. */
export interface Step {
  readonly call: ToolCall;
  readonly answer: ToolAnswer;
}

export type LoopVerdict = { readonly kind: 'nudge' | 'stop'; readonly says: string };

export interface LoopLimits {
  /** Times that a turn, a cycle of up to three turns, or an error may come in a row. */
  readonly repeatsMax: number;
  /** The same call with ever other answers (waiting for something) may come more often. */
  readonly pollsMax: number;
  /** Turns without any change of the tree or the score. */
  readonly quietTurnsMax: number;
}

export const defaultLoopLimits: LoopLimits = { repeatsMax: 3, pollsMax: 8, quietTurnsMax: 40 };

interface Trace {
  readonly calls: string;
  /** Calls with their answers. */
  readonly whole: string;
  /** What failed, where nothing of the turn succeeded. */
  readonly error: string;
}

const cycleMax = 3;

/** Object keys in order, so that the same arguments are the same text. */
const canonical = (value: JsonValue | undefined): string =>
  JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : field,
  );

/**
 * Notices an agent that goes round in circles: the first time it is told so,
 * and stopped where that does not help.
 */
export class LoopWatch {
  readonly #limits: LoopLimits;
  #traces: Trace[] = [];
  #progress: string | number | undefined;
  #quietTurns = 0;
  #isNudgedForQuiet = false;
  #isNudged = false;

  constructor(limits: Partial<LoopLimits> = {}) {
    this.#limits = { ...defaultLoopLimits, ...limits };
  }

  /** After each turn that ran calls. `progress` is anything that changes when the tree or the score does. */
  note(steps: readonly Step[], progress: string | number | undefined): LoopVerdict | undefined {
    const moved = progress !== undefined && progress !== this.#progress;
    const isFirst = this.#progress === undefined;
    this.#progress = progress;
    if (moved && !isFirst) this.#reset();
    else this.#quietTurns += 1;
    this.#traces.push(traceOf(steps));
    this.#traces = this.#traces.slice(-Math.max(this.#limits.pollsMax, this.#limits.repeatsMax * cycleMax));
    const loop = this.#loop();
    if (loop !== undefined) {
      // What was seen so far was told: it has to come as often again.
      this.#traces = [];
      if (this.#isNudged) return { kind: 'stop', says: loop };
      this.#isNudged = true;
      return {
        kind: 'nudge',
        says: `You are going round in circles: ${loop}. Do something else, or finish as blocked and say why.`,
      };
    }
    return this.#quiet(progress !== undefined);
  }

  #reset(): void {
    this.#traces = [];
    this.#quietTurns = 0;
    this.#isNudged = false;
    this.#isNudgedForQuiet = false;
  }

  #quiet(isKnown: boolean): LoopVerdict | undefined {
    const { quietTurnsMax } = this.#limits;
    if (!isKnown || this.#quietTurns < quietTurnsMax) return undefined;
    const says = `nothing has changed for ${this.#quietTurns} turns`;
    if (this.#quietTurns >= 2 * quietTurnsMax) return { kind: 'stop', says };
    if (this.#isNudgedForQuiet) return undefined;
    this.#isNudgedForQuiet = true;
    return {
      kind: 'nudge',
      says: `As far as can be seen, ${says}. Land what you have, or finish and say what stands in the way.`,
    };
  }

  #loop(): string | undefined {
    const { repeatsMax, pollsMax } = this.#limits;
    const traces = this.#traces;
    for (let length = 1; length <= cycleMax; length++) {
      if (
        !isCycle(
          traces.map(({ whole }) => whole),
          length,
          repeatsMax,
        )
      )
        continue;
      return length === 1
        ? `the same call with the same answer ${repeatsMax} times`
        : `the same ${length} turns ${repeatsMax} times`;
    }
    const error = traces.at(-1)?.error ?? '';
    if (
      error !== '' &&
      isCycle(
        traces.map((trace) => trace.error),
        1,
        repeatsMax,
      )
    )
      return `the same error ${repeatsMax} times: ${error.slice(0, 200)}`;
    return isCycle(
      traces.map(({ calls }) => calls),
      1,
      pollsMax,
    )
      ? `the same call ${pollsMax} times`
      : undefined;
  }
}

function traceOf(steps: readonly Step[]): Trace {
  const called = ({ call }: Step): string => `${call.name} ${canonical(call.arguments)} ${call.fault ?? ''}`;
  const answered = ({ answer }: Step): string => canonical({ ok: answer.ok, says: answer.says, more: answer.more });
  const failed = steps.every(({ answer }) => !answer.ok);
  return {
    calls: steps.map(called).join('\n'),
    whole: steps.map((step) => `${called(step)} => ${answered(step)}`).join('\n'),
    // Numbers in an error (a line, a count) do not make another of it.
    error: failed ? steps.map(({ answer }) => answer.says.replace(/\d+/g, '#')).join('\n') : '',
  };
}

/** True where the last `length * repeats` entries are one cycle of that length over and over. */
function isCycle(entries: readonly string[], length: number, repeats: number): boolean {
  const tail = entries.slice(-length * repeats);
  if (tail.length < length * repeats) return false;
  return tail.every((entry, at) => entry === tail[at % length]);
}
