import { Drivers, mergeFile, MergePool, type FileState, type MergeInput, type MergeResult } from '@mound/vcs';

import type { MergeTriple } from '../../workloads/merge-triples.ts';
import type { MergeSubject, MergeVerdict, StagedMerges } from './merge-subject.ts';

/** A merge driver of Mound as a subject: bytes in, bytes or a conflict out, in this process. */
export function moundMerges(
  name: string,
  merge: (input: MergeInput) => MergeResult | Promise<MergeResult>,
): MergeSubject {
  return {
    name,
    available: () => Promise.resolve(true),
    open: () =>
      Promise.resolve({
        stage: (triples) => Promise.resolve(stagedIn(triples.map(inputOf), merge)),
        close: () => Promise.resolve(),
      }),
  };
}

/** The line driver alone. */
export const moundTextMerges: MergeSubject = moundMerges('mound', mergeFile);

const drivers = new Drivers();
const noAttributes = new Map<string, string | boolean>();

/** The driver that Mound takes for a path of which no attribute says anything, where Mound runs it. */
export const moundChosenMerges: MergeSubject = (() => {
  let pool: MergePool | undefined;
  return moundMerges('mound-drivers', (input) => {
    pool ??= new MergePool();
    return pool.merge(input, drivers.of(input.path, noAttributes));
  });
})();

/** Negative control: takes 1 ms longer for each merge, which must show. */
export const slowedMerges: MergeSubject = moundMerges('mound-slowed', (input) => {
  const until = performance.now() + 1;
  while (performance.now() < until);
  return mergeFile(input);
});

/** Negative control: takes current's lines in every conflict, which must show. */
export const carelessMerges: MergeSubject = moundMerges('mound-careless', (input) => {
  const result = mergeFile(input);
  return result.kind === 'clean' ? result : cleanAs('careless', input.current);
});

/** A clean merge by a driver that says no more of it. */
export const cleanAs = (driver: string, result: FileState | null): MergeResult => ({
  kind: 'clean',
  driver,
  driverVersion: '1',
  lines: undefined,
  structure: undefined,
  result,
});

function stagedIn(
  inputs: readonly MergeInput[],
  merge: (input: MergeInput) => MergeResult | Promise<MergeResult>,
): StagedMerges {
  const results: MergeResult[] = [];
  const keep = async (index: number, result: Promise<MergeResult>): Promise<void> => {
    results[index] = await result;
  };
  const mergeOne = (index: number): Promise<void> | undefined => {
    const result = merge(inputs[index] as MergeInput);
    if (result instanceof Promise) return keep(index, result);
    results[index] = result;
    return undefined;
  };
  return {
    merge: mergeOne,
    mergeAll: async () => {
      for (const index of inputs.keys()) {
        const pending = mergeOne(index);
        if (pending !== undefined) await pending;
      }
    },
    verdicts: () => Promise.resolve(results.map(verdictOf)),
  };
}

const stateOf = (content: Uint8Array): FileState => ({ content, mode: 'file' });

const inputOf = ({ path, base, current, incoming }: MergeTriple): MergeInput => ({
  path,
  base: stateOf(base),
  current: stateOf(current),
  incoming: stateOf(incoming),
});

function verdictOf(result: MergeResult): MergeVerdict {
  if (result.kind === 'clean') return { kind: 'clean', content: result.result?.content ?? new Uint8Array(0) };
  return { kind: result.reason === 'binary' || result.reason === 'too-large' ? 'refused' : 'conflict' };
}
