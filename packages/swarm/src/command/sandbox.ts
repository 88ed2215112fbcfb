import { spawnSync } from 'node:child_process';

/** `bubblewrap`: the file system read-only but for the directory, no network, no other processes. */
export type Sandbox = 'none' | 'bubblewrap';

const fixed =
  '--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-net --unshare-pid --unshare-ipc --die-with-parent --new-session';

const wrap = (directory: string): string[] => [
  ...fixed.split(' '),
  '--bind',
  directory,
  directory,
  '--chdir',
  directory,
];

/** File and arguments that run `argv` in the sandbox. */
export function sandboxed(
  sandbox: Sandbox,
  directory: string,
  argv: readonly [string, ...string[]],
): [string, string[]] {
  const [file, ...args] = argv;
  return sandbox === 'none' ? [file, args] : ['bwrap', [...wrap(directory), '--', ...argv]];
}

/** What this machine has: it is tried, since a kernel may forbid it though the program is there. */
export function detectSandbox(directory: string): Sandbox {
  const tried = spawnSync('bwrap', [...wrap(directory), '--', '/bin/true'], { stdio: 'ignore', timeout: 10_000 });
  return tried.status === 0 ? 'bubblewrap' : 'none';
}
