import { absent, version, type Author, type Change, type ConflictView, type Repo } from '@mound/vcs';
import { describe, expect, test } from 'vitest';
import { caseText, hasCases } from './kit/cases.ts';
import { seqOf } from './kit/land.ts';
import { mound } from './kit/process.ts';
import { agent, setup, tempDir, tempRepo } from './kit/temp.ts';

const merger = agent('merger');
const transformed = { fate: 'transformed' } as const;

interface Sides {
  readonly base: string | Buffer | null;
  readonly current: string | Buffer | null;
  readonly incoming: string | Buffer | null;
}

/** Lands `current` on `base`, then asks for `incoming` as from `base`. */
async function conflict(sides: Sides, dir = tempDir(), more: readonly Change[] = []): Promise<{ repo: Repo; view: ConflictView }> {
  const repo = await tempRepo(dir);
  const land = (author: Author, content: Sides['base'], seq: number, also: readonly Change[] = []) => {
    const precondition = seq === 0 ? absent : version(seq);
    const change: Change = content === null ? { kind: 'delete', path: 'f', expect: precondition } : { kind: 'put', path: 'f', content, expect: precondition };
    return repo.land({ author, message: author.name, changes: [change, ...also] });
  };
  const base = sides.base === null ? 0 : seqOf(await land(setup, sides.base, 0));
  await land(agent('one'), sides.current, base);
  const outcome = await land(agent('other'), sides.incoming, base, more);
  return { repo, view: repo.conflict(outcome.kind === 'conflicted' ? outcome.conflict : '') };
} // prettier-ignore

const textsOf = (view: ConflictView): (string | undefined)[] =>
  (['base', 'current', 'incoming'] as const).map((side) => view.paths[0]?.[side].content?.toString());

describe.skipIf(!hasCases)('case 12, markers left in a resolution', () => {
  const read = (name: string): string => caseText('12-markers-committed', name);
  const sides = { base: 'keep\nbase\nend\n', current: 'keep\nleft\nend\n', incoming: 'keep\nright\nend\n' };

  test('an answer that is not resolved is refused however it is accounted for, and the record stays open', async () => {
    const { repo, view } = await conflict(sides);
    for (const name of ['unresolved.txt', 'half-resolved.txt']) {
      const results = [{ path: 'f', content: read(name) }];
      const refused = await repo.resolve(view.id, { author: merger, results, otherwise: transformed });
      expect(refused).toMatchObject({ kind: 'rejected', code: 'resolution-has-markers', paths: ['f'] });
      expect(repo.conflict(view.id).state).toBe('open');
    }
    const results = [{ path: 'f', content: read('resolved.txt') }];
    expect((await repo.resolve(view.id, { author: merger, results, otherwise: transformed })).kind).toBe('landed');
  });

  test.each(['innocent.rst', 'innocent-doc.md'])('%s had such lines before, and may keep them', async (name) => {
    const text = read(name);
    const { repo, view } = await conflict({ base: `a\n${text}`, current: `b\n${text}`, incoming: `c\n${text}` });
    const results = [{ path: 'f', content: `b\nc\n${text}` }];
    expect((await repo.resolve(view.id, { author: merger, results })).kind).toBe('landed');
  });
});

test('case 23: one edits, the other deletes: both versions are kept, and both may be the answer', async () => {
  for (const [current, incoming, reason] of [['edited\n', null, 'modify/delete'], [null, 'edited\n', 'delete/modify']] as const) {
    const { repo, view } = await conflict({ base: 'old\n', current, incoming });
    expect(view.paths[0]?.reason).toBe(reason);
    expect(textsOf(view)).toEqual(['old\n', current ?? undefined, incoming ?? undefined]);
    const results = [{ path: 'f', content: null }];
    expect(await repo.resolve(view.id, { author: merger, results })).toMatchObject({ code: 'resolution-unaccounted' });
    const because = { kind: 'decision', id: 'D-1' } as const;
    const outcome = await repo.resolve(view.id, { author: merger, results, otherwise: { fate: 'discarded', because } });
    expect(outcome.kind).toBe('landed');
    expect(repo.snapshot().head('f')).toBeUndefined();
  }
}); // prettier-ignore

test('case 29: texts that end without a line end stand in markers on lines of their own, and keep their ends', async () => {
  const dir = tempDir();
  const { repo, view } = await conflict({ base: null, current: 'x', incoming: 'y' }, dir);
  expect(view.paths[0]).toMatchObject({ reason: 'add/add', current: { isLastLineEnded: false }, incoming: { isLastLineEnded: false } }); // prettier-ignore
  const shown = await mound(['--repo', dir, 'conflicts', 'show', view.id]);
  expect(shown.stdout).toBe('f: add/add\n<<<<<<< current\nx\n||||||| base\n=======\ny\n>>>>>>> incoming\n');
  const results = [{ path: 'f', content: 'x\ny' }];
  expect((await repo.resolve(view.id, { author: merger, results })).kind).toBe('landed');
  expect(repo.snapshot().readText('f')).toBe('x\ny');
});

test('case 30: a file with CRLF gets markers with CRLF, whichever side is which', async () => {
  const [one, other] = ['a\r\none\r\nb\r\n', 'a\r\nother\r\nb\r\n'];
  const shown: string[] = [];
  for (const [current, incoming] of [[one, other], [other, one]] as const) {
    const dir = tempDir();
    const { repo, view } = await conflict({ base: 'a\r\nbase\r\nb\r\n', current, incoming }, dir);
    const { stdout } = await mound(['--repo', dir, 'conflicts', 'show', view.id]);
    expect(stdout.replace('f: content\n', '').replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    shown.push(...stdout.split('\r\n').filter((line) => line === 'one' || line === 'other').toSorted());
    const results = [{ path: 'f', content: 'a\r\none\r\nother\r\nb\r\n' }];
    expect((await repo.resolve(view.id, { author: merger, results })).kind).toBe('landed');
  }
  expect(shown).toEqual(['one', 'other', 'one', 'other']);
}); // prettier-ignore

test('case 31: both sides make a file executable and conflict in its text: it stays executable', async () => {
  const repo = await tempRepo();
  const base = seqOf(await repo.put('f', 'old\n', { author: setup }));
  const put = { author: agent('one'), expect: version(base), mode: 'executable' } as const;
  await repo.put('f', 'one\n', put);
  const outcome = await repo.put('f', 'other\n', { ...put, author: agent('other') });
  const id = outcome.kind === 'conflicted' ? outcome.conflict : '';
  expect(repo.conflict(id).paths[0]).toMatchObject({ base: { mode: 'file' }, current: { mode: 'executable' }, incoming: { mode: 'executable' } }); // prettier-ignore
  const results = [{ path: 'f', content: 'one\nother\n' }];
  await repo.resolve(id, { author: merger, results });
  expect(repo.snapshot().head('f')?.mode).toBe('executable');
});

test('case 32: an image of the same intent is kept beside the conflict, and lands byte for byte', async () => {
  const image = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0xff, 0xfe, 0x0a]);
  const more = [{ kind: 'put', path: 'image.png', content: image, expect: absent }] as const;
  const { repo, view } = await conflict({ base: 'old\n', current: 'one\n', incoming: 'other\n' }, tempDir(), more);
  expect(view.paths.map(({ path }) => path as string)).toEqual(['f']);
  await repo.resolve(view.id, { author: merger, results: [{ path: 'f', content: 'one\nother\n' }] });
  expect(repo.snapshot().read('image.png')?.equals(image)).toBe(true);
});

test('case 33: conflicts at lines 2, 4, 6 and past line 10 are all reported, in order, and each needs its account', async () => {
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}\n`);
  const at = [2, 4, 6, 13];
  const side = (name: string): string => lines.map((line, index) => (at.includes(index + 1) ? `${name} ${index + 1}\n` : line)).join(''); // prettier-ignore
  const { repo, view } = await conflict({ base: lines.join(''), current: side('one'), incoming: side('other') });
  const hunks = view.paths[0]?.hunks ?? [];
  expect(hunks.map(({ index, current, incoming }) => [index, current.start, incoming.start])).toEqual(
    at.map((line, index) => [index, line, line]),
  );
  const results = [{ path: 'f', content: side('one') }];
  const refused = await repo.resolve(view.id, { author: merger, results });
  expect(refused.kind === 'rejected' && refused.message).toBe(
    `no account of ${at.map((_line, index) => `f hunk ${index} incoming`).join(', ')}`,
  );
});
