import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeCaches } from './make-caches.ts';
import { sandboxed } from './sandbox.ts';
import { privateCaches, type CacheChoice } from './tool-caches.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'mound-caches-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const put = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), text);
};
const none: CacheChoice = { share: [], own: {} };
const make = async (choice: CacheChoice, env = {}, passed = {}): Promise<Readonly<Record<string, string>>> =>
  (await makeCaches(join(dir, 'caches'), privateCaches(choice, { HOME: join(dir, 'home'), ...env }, passed))).variables;

test('a cache begins with what the user has: read-only parts as links, what is written in as copies, no locks', async () => {
  await put('home/.cargo/.package-cache', '');
  await put('home/.cargo/config.toml', '[build]\njobs = 2\n');
  await put('home/.cargo/registry/index/x/.cache/ab/cd/one', 'index');
  await put('home/.cargo/registry/cache/x/one-1.0.crate', 'crate');
  await put('home/.cargo/registry/src/x/one-1.0/lib.rs', 'source');
  await put('home/.cargo/git/db/two-1/HEAD', 'head');
  await put('home/.cargo/git/checkouts/two-1/abc/lib.rs', 'source');
  await symlink('nowhere', join(dir, 'home/.cargo/registry/src/x/dangling'));
  const made = await make(none);
  expect(Object.keys(made).toSorted()).toEqual(['CARGO_HOME', 'GRADLE_USER_HOME', 'TMPDIR', 'npm_config_cache']);
  const cargo = made['CARGO_HOME'] ?? '';
  const linked = (path: string): boolean => lstatSync(join(cargo, path)).isSymbolicLink();
  expect(await readdir(cargo)).toEqual(['config.toml', 'git', 'registry']);
  expect(linked('config.toml')).toBe(true);
  expect(readlinkSync(join(cargo, 'registry/cache/x/one-1.0.crate'))).toContain('home/.cargo/registry');
  expect([linked('registry/src/x'), linked('registry/src/x/one-1.0')]).toEqual([false, true]);
  expect([linked('git/checkouts/two-1'), linked('git/checkouts/two-1/abc')]).toEqual([false, true]);

  await writeFile(join(cargo, 'registry/index/x/.cache/ab/cd/one'), 'newer');
  await writeFile(join(cargo, 'git/db/two-1/HEAD'), 'newer');
  await writeFile(join(cargo, 'registry/cache/x/new-1.0.crate'), 'new');
  expect(readFileSync(join(dir, 'home/.cargo/registry/index/x/.cache/ab/cd/one'), 'utf8')).toBe('index');
  expect(readFileSync(join(dir, 'home/.cargo/git/db/two-1/HEAD'), 'utf8')).toBe('head');
  expect(await readdir(join(dir, 'home/.cargo/registry/cache/x'))).toEqual(['one-1.0.crate']);

  // Made again where a killed process left it; the user's own stays.
  await make(none);
  expect(await readdir(join(cargo, 'registry/cache/x'))).toEqual(['one-1.0.crate']);
  expect(readFileSync(join(dir, 'home/.cargo/registry/src/x/one-1.0/lib.rs'), 'utf8')).toBe('source');
});

test('some are shared, others are named; a target directory that all trees share is nobody else’s', async () => {
  await put('home/.cargo/config.toml', '[build]\ntarget-dir = "/common"\n');
  await put('home/tool/state', 'state');
  await put('elsewhere/_npx/1/lock', 'lock');
  const own = {
    TOOL_HOME: { from: '~/tool', seed: 'copy' },
    LINKED: { from: join(dir, 'home/tool'), seed: 'links' },
    EMPTY: { from: '~/tool', seed: 'empty' },
  } as const;
  const made = await make({ share: ['gradle', 'tmp'], own }, { npm_config_cache: join(dir, 'elsewhere') });
  const names = ['CARGO_HOME', 'CARGO_TARGET_DIR', 'EMPTY', 'LINKED', 'TOOL_HOME', 'npm_config_cache'];
  expect(Object.keys(made).toSorted()).toEqual(names);
  expect(await readdir(made['npm_config_cache'] ?? '')).toEqual(['_npx']);
  expect(lstatSync(join(made['TOOL_HOME'] ?? '', 'state')).isFile()).toBe(true);
  expect(lstatSync(join(made['LINKED'] ?? '', 'state')).isSymbolicLink()).toBe(true);
  expect(await readdir(made['EMPTY'] ?? '')).toEqual([]);

  const passed = { CARGO_TARGET_DIR: '/common' };
  const cargoShared = await make({ share: ['cargo'], own: {} }, passed, passed);
  expect(Object.keys(cargoShared)).not.toContain('CARGO_TARGET_DIR');
  await rm(join(dir, 'home/.cargo'), { recursive: true });
  expect(Object.keys(await make(none, passed, passed))).toContain('CARGO_TARGET_DIR');
  expect(Object.keys(await make(none, {}, { CARGO_TARGET_DIR: 'target' }))).not.toContain('CARGO_TARGET_DIR');
});

test('the sandbox lets a command write to its caches', () => {
  const [, args] = sandboxed('bubblewrap', '/agent', ['true'], [], ['/caches']);
  expect(args.join(' ')).toMatch(/--bind \/agent \/agent --bind \/caches \/caches --chdir \/agent -- true$/);
});

test.skipIf(process.platform === 'win32')(
  'below a long path temporary files have a short one, in which sockets can be made',
  async () => {
    const long = join(dir, 'x'.repeat(90));
    const { variables, elsewhere } = await makeCaches(long, privateCaches(none, { HOME: join(dir, 'home') }, {}));
    const tmp = variables['TMPDIR'] ?? '';
    try {
      expect([tmp.length <= 60, elsewhere]).toEqual([true, [tmp]]);
      const server = createServer();
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject).listen(join(tmp, 'a-name-as-tools-give-them-1234567.sock'), resolve);
      });
      await new Promise((resolve) => server.close(resolve));
    } finally {
      await rm(tmp, { recursive: true, force: true });
    }
    const short = await makeCaches(join(dir, 'c'), privateCaches(none, { HOME: join(dir, 'home') }, {}));
    expect([short.variables['TMPDIR'], short.elsewhere]).toEqual([join(dir, 'c', 'TMPDIR'), []]);
  },
);
