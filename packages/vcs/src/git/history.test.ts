import { afterAll, expect, test } from 'vitest';
import { git, removeTemporaries, scriptedRepo } from './git-fixtures.test.kit.ts';
import { listFirstParentCommits } from './history.ts';

afterAll(removeTemporaries);

test('the first-parent chain, oldest first, with what a replay needs', async () => {
  const repo = scriptedRepo(`
    commit 'Subject
over two lines

Body.

More.'
    git checkout -q -b side; commit aside; git checkout -q main; tick; git merge -q --no-ff -m merge side; commit last`);
  const commits = await listFirstParentCommits(repo, 'main');
  expect(commits.map(({ id }) => id)).toEqual(
    git(repo, ['rev-list', '--first-parent', '--reverse', 'main']).split('\n'),
  );
  expect(commits[0]).toEqual({
    id: git(repo, ['rev-parse', 'main~2']),
    parents: [],
    tree: git(repo, ['rev-parse', 'main~2^{tree}']),
    authorName: 'Ada',
    authorEmail: 'ada@example.invalid',
    authorTime: 1_700_000_001,
    committerTime: 1_700_000_001,
    subject: 'Subject over two lines',
    body: 'Body.\n\nMore.',
  });
  expect(commits[1]).toMatchObject({
    subject: 'merge',
    body: '',
    parents: [commits[0]?.id, git(repo, ['rev-parse', 'side'])],
  });
});

test('a ref that is not there is a typed error, also one that looks like an option', async () => {
  const repo = scriptedRepo('commit one');
  await expect(listFirstParentCommits(repo, 'nope')).rejects.toMatchObject({ code: 'no-such-commit' });
  await expect(listFirstParentCommits(repo, '--all')).rejects.toMatchObject({ code: 'no-such-commit' });
});
