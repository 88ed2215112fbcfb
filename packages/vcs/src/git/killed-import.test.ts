import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { openRepo } from '../repo/open.ts';
import { jsonOf, mound, startMound } from './command.test.kit.ts';
import { fsck, git, refsOf, removeTemporaries, temporaryDir } from './git-fixtures.test.kit.ts';

afterAll(removeTemporaries);

/** Several groups of landings, so that a kill can fall between them. */
const rounds = 200;

/** A `git fast-import` stream: per round two commits on main, one on a topic and its merge; some topics stay open. */
function historyStream(): string {
  const parts: string[] = [];
  let mark = 0;
  const commit = (ref: string, parents: readonly string[], files: readonly (readonly [string, string])[]): string => {
    mark++;
    const [from, ...merged] = parents;
    const who = `Ada <ada@example.invalid> ${1_700_000_000 + mark} +0130`;
    const message = `commit ${mark}\n`;
    parts.push(`commit ${ref}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\ndata ${message.length}\n${message}`);
    if (from !== undefined) parts.push(`from ${from}\n`);
    for (const parent of merged) parts.push(`merge ${parent}\n`);
    // Some files move on their way, so that what became of them has to be found again, too.
    const at = (mark - 1) / 4 - 1;
    if (at > 0 && at % 4 === 0) parts.push(`R src/d${at % 9}/f${at} moved/f${at}\n`);
    for (const [path, text] of files) parts.push(`M 100644 inline ${path}\ndata ${text.length}\n${text}\n`);
    parts.push('\n');
    return `:${mark}`;
  };
  let main: string | undefined;
  for (let round = 0; round < rounds; round++) {
    const body = `${round}\n`.repeat(200 + round);
    const first = commit('refs/heads/main', main === undefined ? [] : [main], [[`src/d${round % 9}/f${round}`, body]]);
    const second = commit('refs/heads/main', [first], [['shared.txt', body]]);
    const isOpen = round % 10 === 9;
    const topicRef = isOpen ? `refs/heads/topic/${round}` : 'refs/heads/topic/last';
    const topic = commit(topicRef, [first], [[`topics/t${round}`, body]]);
    main = isOpen
      ? commit('refs/heads/main', [second], [['log', `${round}`]])
      : commit('refs/heads/main', [second, topic], [[`topics/t${round}`, body]]);
    if (round % 100 === 0) parts.push(`reset refs/tags/v${round}\nfrom ${main}\n\n`);
  }
  return parts.join('');
}

test('an import that is killed again and again comes to its end: git gets its own ids back', async () => {
  const source = join(temporaryDir(), 'source.git');
  git(temporaryDir(), ['init', '-q', '--bare', '-b', 'main', source]);
  git(source, ['fast-import', '--quiet'], historyStream());
  const total = Number(git(source, ['rev-list', '--all', '--count']));
  expect(total).toBe(4 * rounds);

  const dir = join(temporaryDir(), 'mound');
  await mound(['init', dir]);
  const watcher = await openRepo(dir);
  const landed = (): number => watcher.stats().commits;

  /** Kills an import once `isDue`; what had landed then. */
  const killWhen = async (isDue: (msSinceStart: number) => boolean): Promise<number> => {
    const { child, finished } = startMound(['--repo', dir, 'import', source]);
    const startMs = performance.now();
    while (child.exitCode === null && !isDue(performance.now() - startMs)) await sleep(1);
    child.kill('SIGKILL');
    const { signal, code, stderr } = await finished;
    expect([signal === 'SIGKILL' || code === 0, stderr]).toEqual([true, '']);
    return landed();
  };

  // As it starts, then after ever more landings.
  const counts = [await killWhen((ms) => ms > 20)];
  for (const least of [1, 300, 600]) {
    counts.push(await killWhen(() => landed() >= Math.max(least, (counts.at(-1) ?? 0) + 1)));
    const { code, stdout } = await mound(['--repo', dir, 'fsck']);
    expect([code, stdout.length > 0]).toEqual([0, true]);
  }
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  // The kills meant to fall between landings did.
  expect(counts.filter((count) => count > 0 && count < total).length).toBeGreaterThan(0);
  await watcher.close();

  const left = total - (counts.at(-1) ?? 0);
  const last = await mound(['--repo', dir, 'import', source, '--json']);
  expect(jsonOf(last)).toMatchObject({ commits: left, diverged: [], head: git(source, ['rev-parse', 'main']) });
  expect([last.code, last.stderr]).toEqual([0, '']);
  const again = await mound(['--repo', dir, 'import', source, '--json']);
  expect(jsonOf(again)).toMatchObject({ commits: 0, diverged: [] });
  expect(jsonOf(await mound(['--repo', dir, 'fsck', '--json']))).toMatchObject({ ok: true, errors: [] });

  const out = join(temporaryDir(), 'out.git');
  expect(await mound(['--repo', dir, 'export', out])).toMatchObject({ code: 0, stderr: '' });
  expect(refsOf(out)).toEqual(refsOf(source));
  expect(git(out, ['rev-list', '--all', '--count'])).toBe(`${total}`);
  expect(fsck(out)).toBe('');
}, 300_000);
