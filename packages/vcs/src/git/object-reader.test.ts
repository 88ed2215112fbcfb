import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { git, removeTemporaries, scriptedRepo } from './git-fixtures.test.kit.ts';
import { gitBlobId } from './object-id.ts';
import { ObjectReader } from './object-reader.ts';

afterAll(removeTemporaries);

const repoWith = (blobs: readonly Buffer[]): string => {
  const repo = scriptedRepo('commit one');
  for (const blob of blobs) git(repo, ['hash-object', '-w', '--stdin'], blob);
  return join(repo, '.git');
};

test('thousands of reads at once are answered each with its own bytes', async () => {
  const blobs = [0, 1, 2, 65_535, 65_536, 65_537, 3_000_000].map((size) => randomBytes(size));
  blobs.push(Buffer.from('\n\n\n'), Buffer.from('0123 blob 4\n'));
  const reader = new ObjectReader(repoWith(blobs));
  const asked = Array.from(
    { length: 5000 },
    (_, index) => blobs[index % (index > 100 ? 3 : blobs.length)] ?? Buffer.alloc(0),
  );
  const answers = await Promise.all(asked.map((blob) => reader.content(gitBlobId(blob), 'blob')));
  expect(answers.every((answer, index) => answer.equals(asked[index] ?? Buffer.alloc(0)))).toBe(true);
  await reader.close();
});

test('a missing object is undefined or an error, and those after it are not disturbed', async () => {
  const blob = Buffer.from('there');
  const reader = new ObjectReader(repoWith([blob]));
  const absent = 'f'.repeat(40);
  const [found, fails, content] = await Promise.all([
    reader.find(absent),
    reader.read(absent).catch((error: unknown) => error),
    reader.read(gitBlobId(blob)),
  ]);
  expect(found).toBeUndefined();
  expect(fails).toMatchObject({ code: 'no-such-object' });
  expect(content).toEqual({ id: gitBlobId(blob), type: 'blob', content: blob });
  await expect(reader.content(gitBlobId(blob), 'tree')).rejects.toMatchObject({ code: 'object-damaged' });
  await expect(reader.read('HEAD')).rejects.toMatchObject({ code: 'invalid-argument' });
  await reader.close();
});

test('close ends the child and rejects what is open and what comes after', async () => {
  const reader = new ObjectReader(repoWith([]));
  const open = reader.read('a'.repeat(40)).catch((error: unknown) => error);
  await reader.close();
  expect(await open).toMatchObject({ code: 'git-failed' });
  await expect(reader.read('a'.repeat(40))).rejects.toMatchObject({ code: 'git-failed' });
});

test('a repository that is not there fails the read, not the process', async () => {
  const reader = new ObjectReader('/no/such/repo');
  await expect(reader.read('a'.repeat(40))).rejects.toMatchObject({ code: 'not-a-git-repository' });
  await reader.close();
});
