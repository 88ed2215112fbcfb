import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { seededRandom } from '../core/ports.ts';
import { isIgnored, parseIgnoreFile, type IgnoreFile } from './ignore-rules.ts';

const dir = mkdtempSync(join(tmpdir(), 'mound-ignore-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const names = ['a', 'b', 'ab', 'a.log', 'b.o', '#x', '!y', 'sp ', 'A', 'é'];
const patterns = [
  'a', '*.log', '/b', 'a/', 'a/b', '**/b', 'a/**', '**/a/*', '!a.log', '!*', '*', '\\#x', '\\!y', 'sp\\ ', 'sp ', '# no',
  'a/**/b', '[ab]', '[!a]*', '?', '/*', '!/a', '*/b', 'A', 'é', '', 'b.o\r', '/a/', '!a/', '*.', '[z', 'a\\',
]; // prettier-ignore

test('what is ignored is what git check-ignore says, on generated files and trees', () => {
  execFileSync('git', ['init', '-q', dir]);
  const random = seededRandom(20_261_130);
  const draw = <T>(items: readonly T[]): T => items[random.below(items.length)] as T;
  for (let round = 0; round < 30; round++) {
    const files = new Map<string, string>();
    for (const at of ['', 'a/', 'ab/', 'a/b/']) {
      if (at !== '' && random.below(2) === 0) continue;
      const lines = Array.from({ length: 1 + random.below(4) }, () => draw(patterns));
      files.set(at, `${lines.join('\n')}\n`);
    }
    for (const [at, text] of files) {
      mkdirSync(join(dir, dirname(`${at}x`)), { recursive: true });
      writeFileSync(join(dir, `${at}.gitignore`), text);
    }
    const paths = Array.from({ length: 60 }, () =>
      Array.from({ length: 1 + random.below(3) }, () => draw(names)).join('/'),
    );
    const asked = [...new Set(paths)];
    // -z: names as they are; --no-index: nothing is tracked.
    const { stdout } = spawnSync('git', ['check-ignore', '-z', '--no-index', '--stdin'], {
      cwd: dir,
      input: asked.map((path) => `${path}\0`).join(''),
      encoding: 'utf8',
    });
    const byGit = new Set(stdout.split('\0').slice(0, -1));
    const ours = asked.filter((path) => isHidden(files, path));
    expect({ round, files: [...files], ignored: ours.toSorted() }).toEqual({
      round,
      files: [...files],
      ignored: [...byGit].toSorted(),
    });
    for (const at of files.keys()) rmSync(join(dir, `${at}.gitignore`));
  }
});

/** As the scan asks: directory by directory, and nothing below one that is ignored. */
function isHidden(texts: ReadonlyMap<string, string>, path: string): boolean {
  const files: IgnoreFile[] = [];
  const segments = path.split('/');
  for (let depth = 0; depth < segments.length; depth++) {
    const prefix = segments
      .slice(0, depth)
      .map((name) => `${name}/`)
      .join('');
    const text = texts.get(prefix);
    if (text !== undefined) files.push(parseIgnoreFile(Buffer.from(text), prefix));
    const isDirectory = depth < segments.length - 1 || ['a', 'ab', 'a/b'].includes(path);
    if (isIgnored(files, segments.slice(0, depth + 1).join('/'), isDirectory)) return true;
  }
  return false;
}
