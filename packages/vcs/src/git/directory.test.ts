import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { editDirectory, emptyDirectory, plainDirectory, type Directory, type DirectoryEdit } from './directory.ts';
import { gitObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import { directoryMode, parseTree, writeTree, type TreeEntry } from './tree-object.ts';

type Files = Map<string, { readonly mode: number; readonly id: string }>;

/** The oracle: the tree of a set of files, computed whole. */
function treeOf(files: Files): { readonly id: string; readonly objects: Map<string, Buffer> } {
  const objects = new Map<string, Buffer>();
  const write = (prefix: string): string | undefined => {
    const entries: TreeEntry[] = [];
    const below = new Set<string>();
    for (const [path, file] of files) {
      if (!path.startsWith(prefix)) continue;
      const rest = path.slice(prefix.length);
      const slash = rest.indexOf('/');
      if (slash < 0) entries.push({ ...file, name: rest });
      else below.add(rest.slice(0, slash));
    }
    for (const name of below) entries.push({ mode: directoryMode, name, id: write(`${prefix}${name}/`) ?? '' });
    const raw = writeTree(entries);
    const id = gitObjectId('tree', raw);
    objects.set(id, raw);
    return id;
  };
  return { id: write('') ?? '', objects };
}

/** A reader over objects that stand in memory. */
const readerOf = (objects: ReadonlyMap<string, Buffer>): ObjectReader =>
  ({
    content: async (id: string) => objects.get(id) ?? Promise.reject(new Error(`no ${id}`)),
  }) as unknown as ObjectReader;

const path = fc
  .array(fc.constantFrom('a', 'a.b', 'a-', 'b', 'a0'), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.join('/'));
const step = fc.array(fc.tuple(path, fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined })), { maxLength: 6 });

/** Changes the files, keeping files and directories apart as the store does; answers the edits, puts first. */
function applyStep(files: Files, wanted: readonly (readonly [string, number | undefined])[]): DirectoryEdit[] {
  const before = new Map(files);
  for (const [name, value] of wanted) {
    files.delete(name);
    if (value === undefined) continue;
    for (const other of files.keys()) {
      if (other.startsWith(`${name}/`) || name.startsWith(`${other}/`)) files.delete(other);
    }
    files.set(name, { mode: 0o100644, id: String(value).repeat(40) });
  }
  const puts = [...files].filter(([name, file]) => before.get(name)?.id !== file.id);
  const deletes = [...before.keys()].filter((name) => !files.has(name));
  return [
    ...puts.map(([name, file]) => ({ path: name, file })),
    ...deletes.map((name) => ({ path: name, file: undefined })),
  ];
}

test('edited step by step, a tree is what it is computed whole; also where it lies in git', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), fc.boolean(), async (steps, isStored) => {
      const files: Files = new Map();
      const sunk = new Map<string, Buffer>();
      let directory: Directory = emptyDirectory;
      for (const wanted of steps) {
        const edits = applyStep(files, wanted);
        const start: Directory =
          isStored && directory.id !== emptyDirectory.id ? { id: directory.id, entries: undefined } : directory;
        directory = await editDirectory(
          start,
          edits,
          readerOf(sunk),
          (raw) => void sunk.set(gitObjectId('tree', raw), raw),
        );
        const expected = treeOf(files);
        expect(directory.id).toBe(expected.id);
        const missing = [...expected.objects].filter(([id, raw]) => raw.length > 0 && !sunk.has(id));
        expect(missing).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

test('a path that is moved away and filled again is there, in whatever order that is said', async () => {
  const file = { mode: 0o100644, id: '1'.repeat(40) };
  const [put, gone] = [
    { path: 'a', file },
    { path: 'a', file: undefined },
  ];
  const expected = treeOf(new Map([['a', file]])).id;
  for (const edits of [
    [put, gone],
    [gone, put],
  ]) {
    expect((await editDirectory(emptyDirectory, edits, readerOf(new Map()), () => undefined)).id).toBe(expected);
  }
});

test('an odd tree becomes the one that its flat heads give', () => {
  const id = '1'.repeat(40);
  const empty = emptyDirectory.id;
  const oddChild = Buffer.concat([Buffer.from('100664 f\0'), Buffer.from(id, 'hex')]);
  const childId = gitObjectId('tree', oddChild);
  const root = writeTree([
    { mode: directoryMode, name: 'd', id: childId },
    { mode: directoryMode, name: 'nothing', id: empty },
    { mode: directoryMode, name: 'plain', id },
  ]);
  const odd = new Map([
    [childId, oddChild],
    [gitObjectId('tree', root), root],
    [empty, Buffer.alloc(0)],
  ]);
  const sunk: Buffer[] = [];
  const directory = plainDirectory(
    gitObjectId('tree', root),
    (tree) => odd.get(tree),
    (raw) => void sunk.push(raw),
  );
  const child = writeTree([{ mode: 0o100644, name: 'f', id }]);
  const expected = writeTree([
    { mode: directoryMode, name: 'd', id: gitObjectId('tree', child) },
    { mode: directoryMode, name: 'plain', id },
  ]);
  expect(directory.id).toBe(gitObjectId('tree', expected));
  expect(sunk).toEqual([child, expected]);
  expect(parseTree(expected).isCanonical).toBe(true);
});
