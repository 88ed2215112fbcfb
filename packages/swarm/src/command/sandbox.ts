import { spawnSync } from 'node:child_process';

/**
 * `bubblewrap`: the file system read-only but for the directory, no network, no other processes.
 * `unshare`: no network, no other processes; the file system as it is.
 */
export type Sandbox = 'none' | 'bubblewrap' | 'unshare';

const fixed =
  '--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-net --unshare-pid --unshare-ipc --die-with-parent --new-session';

const wrap = (directory: string, hidden: readonly string[], writable: readonly string[]): string[] => [
  ...fixed.split(' '),
  ...hidden.flatMap((path) => ['--tmpfs', path]),
  ...[directory, ...writable].flatMap((path) => ['--bind', path, path]),
  '--chdir',
  directory,
];

// Dies with whoever started it, as bubblewrap does.
const unshared =
  '--pdeathsig KILL unshare --map-root-user --net --mount --pid --ipc --fork --kill-child --mount-proc /bin/sh -c';

/** One word for a shell, whatever it holds. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const unshareScript = (directory: string, hidden: readonly string[]): string =>
  [...hidden.map((path) => `mount -t tmpfs none ${shellWord(path)}`), `cd ${shellWord(directory)}`, 'exec "$@"'].join(
    ' && ',
  );

/** File and arguments that run `argv` in the sandbox; directories in `hidden` are empty there (of `none` they are not), those in `writable` can be written to as `directory` can. */
export function sandboxed(
  sandbox: Sandbox,
  directory: string,
  argv: readonly [string, ...string[]],
  hidden: readonly string[] = [],
  writable: readonly string[] = [],
): [string, string[]] {
  const [file, ...args] = argv;
  switch (sandbox) {
    case 'none':
      return [file, args];
    case 'bubblewrap':
      return ['bwrap', [...wrap(directory, hidden, writable), '--', ...argv]];
    case 'unshare':
      return ['setpriv', [...unshared.split(' '), unshareScript(directory, hidden), 'sh', ...argv]];
  }
}

/** The first that this machine has: each is tried, since a kernel may forbid it though the program is there. */
export function detectSandbox(directory: string, wanted: readonly Sandbox[] = ['bubblewrap']): Sandbox {
  const works = (sandbox: Sandbox): boolean => {
    const [file, args] = sandboxed(sandbox, directory, ['/bin/true']);
    return spawnSync(file, args, { stdio: 'ignore', timeout: 10_000 }).status === 0;
  };
  return wanted.find(works) ?? 'none';
}
