import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import { throwIfInterrupted } from '../harness/interrupt.ts';
import type { EngineSpec } from './engines/index.ts';
import { noRecord, type Ledger } from './ledger.ts';
import { numberOf, type Failure, type RecordOutcome } from './outcome.ts';
import { parseTest } from './parse.ts';
import { endsFile, isSkipped, type TestRecord } from './record.ts';
import type { ThreadReply, ThreadRequest } from './thread.ts';

const threadFile = fileURLToPath(new URL('../../bin/sqllogictest-thread.js', import.meta.url));
/** How often an engine may break in one file; the records behind are counted as the last that broke it. */
const breaksMax = 16;
const watchMs = 50;
/** A thread that hangs while no record is with the engine: it starts, reads or compares. */
const restMsMax = 120_000;
const failuresKeptMax = 20;

/** One file to run. */
export interface FileJob {
  readonly spec: EngineSpec;
  /** Absolute, or from the working directory. */
  readonly file: string;
  readonly ledger: Ledger;
  readonly dialect: string;
  /** How long one record may take. */
  readonly recordMsMax: number;
  readonly signal: AbortSignal;
}

type End =
  { readonly kind: 'done' } | { readonly kind: 'broken'; readonly outcome: RecordOutcome; readonly reason: string };

function killGroup(pid: number): void {
  if (pid === 0) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has gone already.
  }
}

/** A thread and what it takes to keep one there: it is ended with the engine that breaks or hangs in it, and a new one goes on. */
export class Slot {
  private worker: Worker | undefined;

  /** Gives the first failures; all outcomes stand in the ledger. */
  async run(job: FileJob): Promise<Failure[]> {
    const failures: Failure[] = [];
    for (let breaks = 1; ; breaks++) {
      const end = await this.runOn(job, failures);
      if (end.kind === 'done') return failures;
      await this.close();
      throwIfInterrupted(job.signal);
      const records = [...parseTest(readFileSync(job.file, 'utf8'))];
      job.ledger.total = records.length;
      const { record: running } = job.ledger.running();
      const record = running === noRecord ? job.ledger.outcomes.indexOf(numberOf('pending')) : running;
      // A statement that came out right and breaks the next engine, or nothing is left: no use to go on.
      const isRepeat = job.ledger.outcome(record) !== 'pending';
      if (!isRepeat) {
        job.ledger.set(record, end.outcome);
        failures.push({ line: records[record]?.line ?? 0, outcome: end.outcome, reason: end.reason });
      }
      if (isRepeat || breaks === breaksMax) {
        this.giveUp(job, records, end.outcome);
        return failures;
      }
    }
  }

  private giveUp({ ledger, dialect }: FileJob, records: readonly TestRecord[], outcome: RecordOutcome): void {
    for (const [index, record] of records.entries()) {
      const isLeftOut = isSkipped(record.conditions, dialect);
      if (ledger.outcome(index) === 'pending') {
        const isControl = record.kind === 'halt' || record.kind === 'hash-threshold';
        ledger.set(index, isLeftOut ? 'skipped' : isControl ? 'control' : outcome);
      }
      if (endsFile(record) && !isLeftOut) return;
    }
  }

  private runOn(job: FileJob, failures: Failure[]): Promise<End> {
    this.worker ??= new Worker(threadFile);
    const { worker } = this;
    const { ledger } = job;
    ledger.rest();
    return new Promise<End>((resolve) => {
      const watch = setInterval(() => {
        const { record, forMs } = ledger.running();
        if (forMs <= (record === noRecord ? restMsMax : job.recordMsMax)) return;
        end({ kind: 'broken', outcome: 'timedOut', reason: `took longer than ${job.recordMsMax / 1000} s` });
      }, watchMs);
      const end = (found: End): void => {
        clearInterval(watch);
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        if (found.kind === 'broken') killGroup(ledger.process);
        resolve(found);
      };
      const onMessage = (message: ThreadReply): void => {
        if (message.kind === 'failure') {
          if (failures.length < failuresKeptMax) failures.push(message.failure);
        } else if (message.kind === 'done') end({ kind: 'done' });
        else end({ kind: 'broken', outcome: 'crashed', reason: message.reason });
      };
      const onError = (error: Error): void => end({ kind: 'broken', outcome: 'crashed', reason: error.message });
      const onExit = (): void => end({ kind: 'broken', outcome: 'crashed', reason: 'its thread ended' });
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      const request: ThreadRequest = { spec: job.spec, file: job.file, memory: ledger.memory };
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      worker.postMessage(request);
    });
  }

  async close(): Promise<void> {
    const { worker } = this;
    this.worker = undefined;
    // Late errors of a thread that is given up have nobody to tell.
    worker?.on('error', () => undefined);
    await worker?.terminate();
  }
}
