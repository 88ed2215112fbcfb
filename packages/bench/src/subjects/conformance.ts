import assert from 'node:assert/strict';

import { acknowledgedBy } from '../workloads/acknowledged.ts';
import type { CommitOperation, FileChange, InitialFiles } from '../workloads/operation.ts';
import type { PreparedSubject, Subject } from './subject.ts';

/** One thing that every subject must do; it throws where the subject does not. */
export interface ConformanceCheck {
  readonly name: string;
  /** `dir` is empty. */
  check(subject: Subject, dir: string): Promise<void>;
}

const initialFiles = new Map([
  ['src/a.ts', Buffer.from('const a = 1;\n')],
  ['src/b.ts', Buffer.from('const b = 1;\n')],
  ['docs/c.md', Buffer.from('# c\n')],
  ['docs/d.md', Buffer.from('no line ending')],
]);

const change = (path: string, text: string | null): FileChange => ({
  path,
  content: text === null ? null : Buffer.from(text),
});

const operation = (id: string, ...changes: readonly FileChange[]): CommitOperation => ({
  id,
  agent: `agent-${id}`,
  message: `Change ${id}`,
  rationale: `Because of ${id}`,
  changes,
});

const first = [
  operation('op-1', change('src/a.ts', 'const a = 2;\n')),
  operation('op-2', change('src/b.ts', 'const b = 2;\n'), change('src/new.ts', 'export {};\n')),
  operation('op-3', change('docs/d.md', null)),
];
const second = [
  operation('op-4', change('src/a.ts', 'const a = 3;\n')),
  operation('op-5', change('docs/d.md', 'back again\n'), change('src/new.ts', null)),
];

const odd = [
  operation('op-1', { ...change('bin/run', '#!/bin/sh\n'), mode: 'executable' }, change('.gitignore', '*.log\n')),
  operation('op-2', { ...change('link', 'bin/run'), mode: 'symlink' }, change('ignored.log', 'kept\n')),
  operation('op-3', change('docs/[x] "ü" *.md', 'one\r\ntwo\n'), change('.gitattributes', '* text=auto\n')),
  operation('op-4', change('link', null), change('link/now-a-directory', '\0\n')),
  operation('op-5', change('link/now-a-directory', null), change('link', 'a file again\r\n')),
];

async function run(prepared: PreparedSubject, operations: readonly CommitOperation[], inFlight: number): Promise<void> {
  const signal = new AbortController().signal;
  const measured = await prepared.run(operations, { inFlight, budgetMs: 60_000, signal });
  assert.equal(measured.acknowledged, operations.length, 'all commits fit into the time and are acknowledged');
  assert.ok(measured.seconds > 0, 'time has passed');
  if (measured.latenciesMs !== undefined) {
    assert.equal(measured.latenciesMs.length, operations.length, 'one latency for each commit');
    assert.ok(
      measured.latenciesMs.every((latency) => latency > 0),
      'each latency is measured',
    );
  }
}

async function withPrepared(
  subject: Subject,
  dir: string,
  use: (prepared: PreparedSubject) => Promise<void>,
  files: InitialFiles = initialFiles,
): Promise<void> {
  const prepared = await subject.prepare(files, dir, new AbortController().signal);
  try {
    await use(prepared);
  } finally {
    await prepared.cleanup();
  }
}

async function makeOddChanges(prepared: PreparedSubject): Promise<void> {
  await run(prepared, odd, 1);
  assert.deepEqual(await prepared.verify(acknowledgedBy(odd)), []);
}

const inFlightOf = (subject: Subject): number => (subject.pace === 'one-at-a-time' ? 1 : 3);

/** The checks that a subject must pass where it is available. */
export const conformanceChecks: readonly ConformanceCheck[] = [
  {
    name: 'holds the edits, new files and deletes that it acknowledged',
    check: (subject, dir) =>
      withPrepared(subject, dir, async (prepared) => {
        await run(prepared, first, inFlightOf(subject));
        assert.deepEqual(await prepared.verify(acknowledgedBy(first)), []);
      }),
  },
  {
    name: 'goes on where its last run ended, also after being read back',
    check: (subject, dir) =>
      withPrepared(subject, dir, async (prepared) => {
        await run(prepared, first, inFlightOf(subject));
        assert.deepEqual(await prepared.verify(acknowledgedBy(first)), []);
        await run(prepared, second, 1);
        assert.deepEqual(await prepared.verify(acknowledgedBy([...first, ...second])), []);
      }),
  },
  {
    name: 'starts from nothing, and takes odd paths, modes and line endings as they are',
    check: (subject, dir) => withPrepared(subject, dir, makeOddChanges, new Map()),
  },
  {
    name: 'notices a commit that is lost',
    check: (subject, dir) =>
      withPrepared(subject, dir, async (prepared) => {
        await run(prepared, first.slice(0, 2), inFlightOf(subject));
        const faults = await prepared.verify({ operationIds: ['op-1', 'op-2', 'op-3'], files: new Map() });
        assert.deepEqual(faults, ['commit op-3 is there 0 times']);
      }),
  },
  {
    name: 'notices content that is lost, missing or back from the dead',
    check: (subject, dir) =>
      withPrepared(subject, dir, async (prepared) => {
        await run(prepared, first.slice(0, 2), inFlightOf(subject));
        const files = new Map([
          ['src/a.ts', Buffer.from('const a = 3;\n')],
          ['src/other.ts', Buffer.from('export {};\n')],
          ['src/new.ts', null],
        ]);
        assert.deepEqual(await prepared.verify({ operationIds: ['op-1'], files }), [
          'src/a.ts has other content than was acknowledged',
          'src/other.ts is not there',
          'src/new.ts is there though it was deleted',
        ]);
      }),
  },
];
