import * as fc from 'fast-check';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { buildCommit, type CommitSource } from './commit-build.ts';
import { decodeText, joinCommit, parseCommit, parseIdentity } from './commit-object.ts';
import { casesDir, fsck, git, readCase, readJson, removeTemporaries, scriptedRepo } from './git-fixtures.test.kit.ts';
import { emptyTreeId, gitObjectId } from './object-id.ts';

afterAll(removeTemporaries);

const people = 'author A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n';

describe('parsing', () => {
  test('no byte of anything is dropped', () => {
    const piece = fc.constantFrom('\n', ' ', 'tree ', 'author ', 'gpgsig x\n y', '\n\n', '\0', 'x');
    const text = fc.oneof(
      fc.uint8Array(),
      fc.array(piece).map((pieces) => Buffer.from(pieces.join(''))),
    );
    fc.assert(
      fc.property(text, (raw) => {
        expect(joinCommit(parseCommit(raw)).equals(Buffer.from(raw))).toBe(true);
      }),
    );
  });

  test('headers with continuation lines stay one header', () => {
    const raw = Buffer.from(
      `tree ${emptyTreeId}\n${people}gpgsig -----\n \n abc\n -----\nHG:extra x\n\nsubject\n\nbody`,
    );
    const commit = parseCommit(raw);
    expect(commit.tree).toBe(emptyTreeId);
    expect(commit.extraHeaders).toEqual(['gpgsig', 'HG:extra']);
    expect(commit.message?.toString()).toBe('subject\n\nbody');
  });

  test('what is no id is not taken for one', () => {
    const commit = parseCommit(Buffer.from('tree 123\nparent zz\n\nm'));
    expect([commit.tree, commit.parents]).toEqual([undefined, []]);
  });

  test('text is decoded by its header, else as UTF-8, else a char a byte', () => {
    expect(decodeText(Buffer.from([0xe4]), 'iso-8859-1')).toBe('ä');
    expect(decodeText(Buffer.from([0xf9, 0xec, 0xe5, 0xed]), 'iso-8859-8')).toBe('שלום');
    expect(decodeText(Buffer.from('ä'))).toBe('ä');
    expect(decodeText(Buffer.from([0xff]))).toBe('ÿ');
    expect(decodeText(Buffer.from('ä'), 'no-such-encoding')).toBe('ä');
  });

  test.each([
    ['A <a@b> 5 +0100', { name: 'A', email: 'a@b', time: 5, zone: '+0100' }],
    [' <a@b> 5 +0100', { name: '', email: 'a@b', time: 5, zone: '+0100' }],
    [' <> 5 +0100', { name: '', email: '', time: 5, zone: '+0100' }],
    ['A <<a@b>> 5 +0100', { name: 'A', email: '<a@b', time: 5, zone: '+0100' }],
    ['A a@b', { name: 'A a@b', email: '', time: undefined, zone: undefined }],
    ['A <a@b>', { name: 'A', email: 'a@b', time: undefined, zone: undefined }],
    ['', { name: '', email: '', time: undefined, zone: undefined }],
  ])('identity %j', (line, expected) => {
    expect(parseIdentity(Buffer.from(line))).toEqual(expected);
  });
});

describe.skipIf(casesDir() === undefined)('case 14', () => {
  const expected = (casesDir() === undefined ? {} : readJson('14-odd-commit-headers/expected.json')) as Record<
    string,
    { readonly id: string; readonly bytes: number; readonly gitLogSays: string }
  >;
  const names = casesDir() === undefined ? [] : readdirSync(join(casesDir() ?? '', '14-odd-commit-headers/raw'));

  test.each(names.map((name) => name.replace('.commit', '')))('%s', (name) => {
    const raw = readCase(`14-odd-commit-headers/raw/${name}.commit`);
    const commit = parseCommit(raw);
    expect(gitObjectId('commit', joinCommit(commit))).toBe(expected[name]?.id);
    const author = parseIdentity(commit.authorLine);
    const committer = parseIdentity(commit.committerLine);
    const [authorName, email, authorTime = '', committerDate = ''] = expected[name]?.gitLogSays.split('|') ?? [];
    expect([author.name, author.email]).toEqual([authorName, email]);
    expect(String(author.time ?? '')).toBe(authorTime);
    expect(String(committer.time ?? '')).toBe(committerDate.split(' ')[0]);
  });
});

describe('building', () => {
  const plain: CommitSource = {
    author: { name: 'Ada', kind: 'agent' },
    coAuthors: [],
    time: 1_700_000_000_999,
    message: 'm',
  };
  const bodyOf = (source: Partial<CommitSource>): string =>
    parseCommit(buildCommit(emptyTreeId, [], { ...plain, ...source })).message?.toString() ?? '';

  test('identity and time are fixed by the record', () => {
    const raw = buildCommit(emptyTreeId, ['a'.repeat(40), 'b'.repeat(40), 'a'.repeat(40)], plain).toString();
    expect(raw).toBe(
      `tree ${emptyTreeId}\nparent ${'a'.repeat(40)}\nparent ${'b'.repeat(40)}\n` +
        'author Ada <ada@mound.invalid> 1700000000 +0000\ncommitter Ada <ada@mound.invalid> 1700000000 +0000\n\nm\n',
    );
  });

  test('trailers follow the message, the rationale stands as a paragraph', () => {
    const author = { name: 'Worker', kind: 'agent', agent: 'w-1', role: 'worker', model: 'm\n2' } as const;
    const coAuthors = [{ name: 'Bo', kind: 'human', email: 'bo@x' } as const];
    expect(
      bodyOf({
        author,
        coAuthors,
        message: 'Subject\n\nBody.\n\n',
        rationale: 'Because.',
        task: 't',
        operationId: 'o',
      }),
    ).toBe(
      'Subject\n\nBody.\n\nRationale: Because.\n\nTask: t\nAgent: w-1\nRole: worker\nModel: m 2\nOperation: o\nCo-authored-by: Bo <bo@x>\n',
    );
    expect(bodyOf({ message: 'Subject\n\nSigned-off-by: X <x@y>', task: 't' })).toBe(
      'Subject\n\nSigned-off-by: X <x@y>\nTask: t\n',
    );
    expect(bodyOf({ message: 'fix: this', task: 't' })).toBe('fix: this\n\nTask: t\n');
    expect(bodyOf({ message: '' })).toBe('');
  });

  test('git finds the trailers and fsck --strict takes every identity', () => {
    const repo = scriptedRepo('commit one');
    const authors = ['Ada', '', '<>', ' .,; ', 'A <b> c\nd', 'Ünï', '日本', '\0', "O'Neil"].map(
      (name) => ({ name, kind: 'agent' }) as const,
    );
    for (const [index, author] of authors.entries()) {
      for (const email of [undefined, '', '<x> y@z\n', 'ü@ö']) {
        const full = email === undefined ? author : { ...author, email };
        const raw = buildCommit(emptyTreeId, [], { ...plain, author: full, task: 'T-1', message: `m\0 ${index}` });
        const id = git(repo, ['hash-object', '-t', 'commit', '-w', '--stdin'], raw);
        git(repo, ['update-ref', `refs/heads/c${index}-${authors.length}-${(email ?? 'none').length}`, id]);
        expect(git(repo, ['log', '-1', '--format=%(trailers:key=Task,valueonly)', id])).toBe('T-1');
      }
    }
    git(repo, ['hash-object', '-t', 'tree', '-w', '--stdin'], '');
    expect(fsck(repo)).toBe('');
  });
});
