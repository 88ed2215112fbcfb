import { copyFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { projectDir } from './kit/process.ts';
import { tempDir } from './kit/temp.ts';

/** Whether the bundle is run where each of the build's files was last written at a time in seconds. */
async function isBundleRun(writtenAt: { readonly bundle?: number; readonly compiled?: number }): Promise<boolean> {
  const dir = tempDir();
  for (const place of ['bin', 'dist/bundle']) mkdirSync(join(dir, place), { recursive: true });
  writeFileSync(join(dir, 'package.json'), '{"type":"module"}');
  copyFileSync(join(projectDir, 'packages/vcs/bin/freshness.js'), join(dir, 'bin/freshness.js'));
  const write = (path: string, seconds: number | undefined): void => {
    if (seconds === undefined) return;
    writeFileSync(join(dir, path), '');
    utimesSync(join(dir, path), seconds, seconds);
  };
  write('dist/bundle/main.js', writtenAt.bundle);
  write('dist/.tsbuildinfo', writtenAt.compiled);
  const { isBundleFresh } = (await import(pathToFileURL(join(dir, 'bin/freshness.js')).href)) as {
    readonly isBundleFresh: () => boolean;
  };
  return isBundleFresh();
}

test('commands run the bundle, unless what it was made of was compiled again since', async () => {
  expect(await isBundleRun({ bundle: 2, compiled: 1 })).toBe(true);
  expect(await isBundleRun({ bundle: 2, compiled: 3 })).toBe(false);
  expect(await isBundleRun({ compiled: 1 })).toBe(false);
  // As it is installed: a package has no record of its compilation.
  expect(await isBundleRun({ bundle: 1 })).toBe(true);
});
