import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir, run } from './kit/process.ts';
import { tempDir } from './kit/temp.ts';

const printed = 'ada landed\nbob merged\nbob conflicted\n';

test('the packed tarball serves an outside project, from ESM (compiled) and CommonJS', async () => {
  const outside = tempDir();
  const packed = await run('npm', ['pack', '--json', '--pack-destination', outside, '-w', '@mound/vcs']);
  expect(packed.code, packed.stderr).toBe(0);
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  writeFileSync(join(outside, 'package.json'), JSON.stringify({ name: 'outside', private: true, type: 'module' }));
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', `./${filename}`];
  const installed = await run('npm', install, { cwd: outside });
  expect(installed.code, installed.stderr).toBe(0);

  for (const name of ['embed.ts', 'embed.cjs', 'tour.ts', 'merge-driver.ts'])
    copyFileSync(join(projectDir, 'docs/examples', name), join(outside, name));
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2023'];
  // The package brings the types that its declarations need.
  const types = ['--types', 'node'];
  const tsc = join(projectDir, 'node_modules/.bin/tsc');
  const compiled = await run(tsc, [...strict, ...types, 'embed.ts', 'tour.ts', 'merge-driver.ts'], { cwd: outside });
  expect(compiled.stdout + compiled.stderr).toBe('');

  for (const file of ['embed.js', 'embed.cjs']) {
    const ran = await run(process.execPath, ['--no-warnings', file, join(outside, `repo-${file}`)], { cwd: outside });
    expect(ran).toMatchObject({ code: 0, stdout: printed, stderr: '' });
  }
  const tour = await run(process.execPath, ['tour.js', join(outside, 'repo-tour')], { cwd: outside });
  expect(tour).toMatchObject({ code: 0, stderr: '' });
  const said = ['first: landed', 'clash: conflicted', 'resolved: landed'];
  expect(tour.stdout.split('\n')).toEqual(expect.arrayContaining(said));
  expect(tour.stdout).toContain('main: export const a = 3;\n side: export const a = 4;\n');
  const driver = await run(process.execPath, ['merge-driver.js', join(outside, 'repo-driver')], { cwd: outside });
  expect(driver).toMatchObject({ code: 0, stderr: '' });
  expect(driver.stdout).toBe("10 checks passed\nmerged [ 'words' ]\nant bee cat \n");
  const bin = await run(join(outside, 'node_modules/.bin/mound'), ['--version'], { cwd: outside });
  expect(bin.stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
});
