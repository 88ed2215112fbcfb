import assert from 'node:assert/strict';

import type { MergeTriple } from '../../workloads/merge-triples.ts';
import type { MergeSubject, MergeVerdict } from './merge-subject.ts';

/** One thing that every merge subject must do; it throws where the subject does not. */
export interface MergeConformanceCheck {
  readonly name: string;
  /** `dir` is empty. */
  check(subject: MergeSubject, dir: string): Promise<void>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const triple = (base: string, current: string, incoming: string): MergeTriple => ({
  origin: 'conformance',
  path: 'src/f.txt',
  base: bytes(base),
  current: bytes(current),
  incoming: bytes(incoming),
});

const clean = triple('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n');
const conflict = triple('a\nb\nc\n', 'a\nB\nc\n', 'a\nx\nc\n');
const odd = triple('a\r\nb\r\nc', 'é\r\nb\r\nc', 'a\r\nb\r\nC');

async function verdictsOf(
  subject: MergeSubject,
  dir: string,
  groups: readonly (readonly MergeTriple[])[],
): Promise<MergeVerdict[]> {
  const open = await subject.open(dir, new AbortController().signal);
  const verdicts: MergeVerdict[] = [];
  try {
    for (const triples of groups) {
      const staged = await open.stage(triples);
      for (const index of triples.keys()) await staged.merge(index);
      verdicts.push(...(await staged.verdicts()));
    }
  } finally {
    await open.close();
  }
  return verdicts;
}

const shown = (verdict: MergeVerdict | undefined): string | undefined =>
  verdict?.kind === 'clean' ? Buffer.from(verdict.content).toString() : verdict?.kind;

export const mergeConformanceChecks: readonly MergeConformanceCheck[] = [
  {
    name: 'merges what does not touch, and tells a conflict',
    async check(subject, dir) {
      const verdicts = await verdictsOf(subject, dir, [[clean, conflict, clean]]);
      assert.deepEqual(verdicts.map(shown), ['A\nb\nC\n', 'conflict', 'A\nb\nC\n']);
    },
  },
  {
    name: 'keeps line ends and a missing last one',
    async check(subject, dir) {
      assert.deepEqual((await verdictsOf(subject, dir, [[odd]])).map(shown), ['é\r\nb\r\nC']);
    },
  },
  {
    name: 'takes one staging after the other',
    async check(subject, dir) {
      const verdicts = await verdictsOf(subject, dir, [[conflict, clean], [clean], []]);
      assert.deepEqual(verdicts.map(shown), ['conflict', 'A\nb\nC\n', 'A\nb\nC\n']);
    },
  },
  {
    name: 'merges all as one stream, where it has that form',
    async check(subject, dir) {
      const open = await subject.open(dir, new AbortController().signal);
      try {
        const staged = await open.stage([clean, conflict, odd]);
        if (staged.mergeAll === undefined) return;
        await staged.mergeAll();
        assert.deepEqual((await staged.verdicts()).map(shown), ['A\nb\nC\n', 'conflict', 'é\r\nb\r\nC']);
      } finally {
        await open.close();
      }
    },
  },
];
