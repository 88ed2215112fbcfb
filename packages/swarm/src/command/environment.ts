/** Variables that say how programs run and no secret. */
const allowedNames = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TERM', 'SHELL'];

/** What agents' commands inherit: the names above, and those that the configuration adds. */
export function commandEnvironment(
  from: Readonly<Record<string, string | undefined>>,
  moreNames: readonly string[],
): Record<string, string> {
  const names = new Set([...allowedNames, ...moreNames]);
  return Object.fromEntries(
    [...names].flatMap((name) => {
      const value = from[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
