import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../model/fault-server.test.kit.ts';
import { processesWith } from './processes.ts';
import { detectSandbox, sandboxed, shellWord, type Sandbox } from './sandbox.ts';

let dir: string;
let work: string;
let secret: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'mound-sandbox-'));
  work = join(dir, "it's a directory");
  secret = join(dir, "the operator's");
  for (const path of [work, secret]) mkdirSync(path);
  writeFileSync(join(secret, 'answer'), '42');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function printed(sandbox: Sandbox, command: string): string {
  const [file, args] = sandboxed(sandbox, work, ['/bin/sh', '-c', command], [secret]);
  return spawnSync(file, args, { encoding: 'utf8', cwd: work }).stdout;
}

const seen = (): string => `ls ${shellWord(secret)}; pwd; cat /proc/net/dev | grep -c :; touch made && ls`;

describe.each(['bubblewrap', 'unshare'] as const)('%s (skipped where it does not work)', (sandbox) => {
  const works = detectSandbox(tmpdir(), [sandbox]) === sandbox;

  test.skipIf(!works)('no network but the loop, what is hidden is empty, the directory can be written to', () => {
    expect(printed(sandbox, seen())).toBe(`${work}\n1\nmade\n`);
    // Without one the same command sees it.
    expect(printed('none', seen())).toMatch(/^answer\n/);
    expect(Object.keys(networkInterfaces()).length).toBeGreaterThan(0);
  });

  test.skipIf(!works || process.platform !== 'linux')(
    'what runs in it ends with whoever started it, also by kill -9',
    async () => {
      const mark = `MOUND_SANDBOX_TEST=${dir}`;
      const [file, args] = sandboxed(sandbox, work, ['/bin/sh', '-c', 'sleep 1000 & sleep 1000']);
      const script = `require('child_process').spawn(${JSON.stringify(file)}, ${JSON.stringify(args)}, { detached: true, stdio: 'ignore', env: { ...process.env, MOUND_SANDBOX_TEST: ${JSON.stringify(dir)} } }); setInterval(() => 0, 1000)`;
      const starter = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
      const sleeping = (): number => processesWith(mark).length;
      await until(() => sleeping() >= 3);
      starter.kill('SIGKILL');
      await once(starter, 'exit');
      await until(() => sleeping() === 0);
      expect(sleeping()).toBe(0);
    },
  );
});

test('the first that works is taken, and none where none does', () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  try {
    expect(detectSandbox(tmpdir(), ['bubblewrap', 'unshare'])).toBe('none');
  } finally {
    process.env['PATH'] = path;
  }
  expect(detectSandbox(tmpdir(), ['none', 'unshare'])).toBe('none');
});
