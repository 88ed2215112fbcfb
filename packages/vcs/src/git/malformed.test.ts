import { spawnSync } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { git, removeTemporaries, scriptedRepo } from './git-fixtures.test.kit.ts';
import { malformedOf } from './malformed.ts';
import type { GitObjectType } from './object-id.ts';

afterEach(removeTemporaries);

const sound = 'A <a@b> 1 +0000';
const identities: readonly string[] = [
  sound, '<a@b> 1 +0000', ' <a@b> 1 +0000', 'A> <a@b> 1 +0000', 'A a@b 1 +0000', 'A<a@b> 1 +0000', 'A <a 1 +0000', 'A <a<b> 1 +0000',
  'A <a@b>1 +0000', 'A <a@b> 01 +0000', 'A <a@b> 0 +0000', 'A <a@b> 9223372036854775808 +0000', 'A <a@b> 9223372036854775807 +0000',
  'A <a@b> -1 +0000', 'A <a@b> x +0000', 'A <a@b>  +0000', 'A <a@b> 1+0000', 'A <a@b> 1 0000', 'A <a@b> 1 +000', 'A <a@b> 1 +00000', 'A <a@b> 1',
  'A <a@b>', 'A', '', 'A <a@b> 1e9 +0000', 'A <a@b> 99999999999999999999999 +0000',
]; // prettier-ignore

/** A date before 1970 has another name in later gits. */
const inAnyGit = (line: string): string => line.replace('badDateOverflow', 'badDate');

const names = [
  'badDate', 'badEmail', 'badName', 'badTimezone', 'badTree', 'duplicateEntries', 'missingAuthor', 'missingCommitter', 'missingEmail',
  'missingNameBeforeEmail', 'missingSpaceBeforeDate', 'missingSpaceBeforeEmail', 'multipleAuthors', 'nulInHeader', 'treeNotSorted',
  'unterminatedHeader', 'zeroPaddedDate',
]; // prettier-ignore

test('each object that git fsck has an error for is named with git’s own name for it', () => {
  const dir = scriptedRepo('echo a > a; commit 1');
  const [blob, tree] = ['HEAD:a', 'HEAD^{tree}'].map((name) => git(dir, ['rev-parse', name])) as [string, string];
  const objects: { id: string; type: GitObjectType; content: Buffer }[] = [];
  const add = (type: GitObjectType, ...parts: readonly (string | Buffer)[]): void => {
    const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
    const id = git(dir, ['hash-object', '-t', type, '-w', '--stdin', '--literally'], content);
    git(dir, ['update-ref', `refs/kept/${id}`, id]);
    objects.push({ id, type, content });
  };
  for (const one of identities) {
    add('commit', `tree ${tree}\nauthor ${one}\ncommitter ${sound}\n\nm\n`);
    add('commit', `tree ${tree}\nauthor ${sound}\ncommitter ${one}\n\nm\n`);
    add('tag', `object ${blob}\ntype blob\ntag t\ntagger ${one}\n\nm\n`);
  }
  add('commit', `tree ${tree}\n\nno people\n`);
  add('commit', `tree ${tree}\nauthor ${sound}\nauthor ${sound}\ncommitter ${sound}\n\nm\n`);
  add('commit', `tree ${tree}\nauthor ${sound}\n\nno committer\n`);
  add('commit', `tree ${tree}\nauthor ${sound}\ncommitter ${sound}\nx a\0b\n\nm\n`);
  add('commit', `tree ${tree}\nauthor ${sound}\ncommitter ${sound}\n\na\0b\n`);
  add('commit', `tree ${tree}\nauthor ${sound}\ncommitter ${sound}\nx`);
  add('commit', `tree ${tree}\nauthor ${sound}\ncommitter ${sound}\n`);
  add('tag', `object ${blob}\ntype blob\ntag t\n\nno tagger\n`);
  const id = Buffer.from(blob, 'hex');
  add('tree', '100644 b\0', id, '100644 a\0', id);
  add('tree', '100644 a\0', id, '100644 a\0', id);
  add('tree', '100644 a\0', id, '40000 a\0', Buffer.from(tree, 'hex'));
  add('tree', '100644 a\0', id, '100644 a.b\0', id, '40000 a\0', Buffer.from(tree, 'hex'));
  add('tree', '40000 a\0', Buffer.from(tree, 'hex'), '100644 a.b\0', id);
  add('tree', '40000 a\0', Buffer.from(tree, 'hex'), '40000 a/b\0', Buffer.from(tree, 'hex'));
  add('tree', '100644 \0', id, '100644 a\0', id);
  add('tree', '0100664 a\0', id, '100644 b/c\0', id);
  const { stderr } = spawnSync('git', ['fsck', '--no-dangling'], { cwd: dir, encoding: 'latin1' });
  const told = [...stderr.matchAll(/^error in (\w+ \w{40}: \w+): /gm)].map(([, line]) => line ?? '');
  expect(malformedOf(objects).map(inAnyGit).toSorted()).toEqual(told.map(inAnyGit).toSorted());
  expect([...new Set(told.map((line) => inAnyGit(line).split(': ')[1] ?? ''))].toSorted()).toEqual(names);
});
