import { numberOf, outcomeOf, type RecordOutcome } from './outcome.ts';

/** A record takes at least so many bytes of its file: `halt` and the line's end. */
const recordBytesMin = 5;
/** Numbers in `state`: the record that runs, since when, and the engine's process. */
const at = { record: 0, sinceMs: 1, process: 2, total: 3 } as const;
const stateNumbers = 4;
export const noRecord = -1;

export interface LedgerMemory {
  readonly state: SharedArrayBuffer;
  readonly outcomes: SharedArrayBuffer;
  readonly times: SharedArrayBuffer;
  /** By `Date.now()`: what `sinceMs` counts from. */
  readonly epoch: number;
}

export const timePhases = ['read', 'engine', 'judge'] as const;
export type TimePhase = (typeof timePhases)[number];

/**
 * What a thread has done of a file, in shared memory: whoever watches the
 * thread can read it even when the thread is stuck in an engine or has died.
 */
export class Ledger {
  readonly memory: LedgerMemory;
  private readonly state: Int32Array;
  private readonly numbers: Uint8Array;
  private readonly times: Float64Array;

  constructor(memory: LedgerMemory) {
    this.memory = memory;
    this.state = new Int32Array(memory.state);
    this.numbers = new Uint8Array(memory.outcomes);
    this.times = new Float64Array(memory.times);
  }

  static forFile(bytes: number): Ledger {
    return new Ledger({
      state: new SharedArrayBuffer(stateNumbers * 4),
      outcomes: new SharedArrayBuffer(Math.floor(bytes / recordBytesMin) + 1),
      times: new SharedArrayBuffer(timePhases.length * 8),
      epoch: Date.now(),
    });
  }

  /** Says that a record is about to run; the watcher's clock starts. */
  begin(record: number): void {
    Atomics.store(this.state, at.sinceMs, this.now());
    Atomics.store(this.state, at.record, record);
  }

  /** Says that no record is with the engine. */
  rest(): void {
    this.begin(noRecord);
  }

  /** The record that is with the engine ({@link noRecord}: none is), and for how long. */
  running(): { record: number; forMs: number } {
    return { record: Atomics.load(this.state, at.record), forMs: this.now() - Atomics.load(this.state, at.sinceMs) };
  }

  private now(): number {
    return (Date.now() - this.memory.epoch) | 0;
  }

  set process(pid: number) {
    Atomics.store(this.state, at.process, pid);
  }

  /** 0: the engine has none. */
  get process(): number {
    return Atomics.load(this.state, at.process);
  }

  /** Records in the file, once it is read. */
  set total(count: number) {
    Atomics.store(this.state, at.total, count);
  }

  get total(): number {
    return Atomics.load(this.state, at.total);
  }

  outcome(record: number): RecordOutcome {
    return outcomeOf(this.numbers[record] ?? 0);
  }

  set(record: number, outcome: RecordOutcome): void {
    this.numbers[record] = numberOf(outcome);
  }

  get outcomes(): Uint8Array {
    return this.numbers.subarray(0, this.total);
  }

  spend(phase: TimePhase, ms: number): void {
    const index = timePhases.indexOf(phase);
    this.times[index] = (this.times[index] ?? 0) + ms;
  }

  spent(phase: TimePhase): number {
    return this.times[timePhases.indexOf(phase)] ?? 0;
  }
}
