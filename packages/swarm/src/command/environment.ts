/** What a command may know of the environment without being told: where programs are and how people write. */
const allowed: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_CTYPE',
  'LC_MESSAGES',
  'TZ',
  'TERM',
  'TMPDIR',
  'NO_COLOR',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
];

/** The variables that a command gets: a few harmless ones, those named, and those given. Keys and tokens are not inherited. */
export function environmentFor(
  from: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
  more: Readonly<Record<string, string>>,
): Record<string, string> {
  const inherited = [...allowed, ...names].flatMap((name): [string, string][] => {
    const value = from[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(inherited), ...more };
}
