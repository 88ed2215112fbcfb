import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * How a private cache begins, by path in it; the first pattern that fits counts,
 * `*` is any name. `fresh`: as if it were not there. `copied`. `within`: a
 * directory of its own, of whose entries the same is asked. What no pattern
 * names is a link to the user's own.
 */
export type Seed = readonly (readonly [pattern: string, how: 'fresh' | 'copied' | 'within'])[];

/** A directory of a tool's that each agent has for itself. */
export interface PrivateCache {
  /** The environment variable that leads the tool there. */
  readonly variable: string;
  /** The user's own, from which it begins; undefined: it begins empty. */
  readonly from?: string;
  readonly seed: Seed;
}

interface ToolCache {
  readonly tool: string;
  readonly variable: string;
  /** Where the user's own is when the variable says nothing, from the home directory; undefined: nothing is taken from it. */
  readonly usual?: string;
  /** On what one that uses it waits for another. */
  readonly lock: string;
  readonly seed: Seed;
}

/**
 * Caches on whose locks builds wait for one another. A link stands only where
 * the tool reads what is there without a lock, and adds what is new beside it.
 */
export const toolCaches: readonly ToolCache[] = [
  {
    tool: 'cargo',
    variable: 'CARGO_HOME',
    usual: '.cargo',
    lock: '.package-cache, held while dependencies are resolved, fetched and unpacked',
    seed: [
      ['.package-cache*', 'fresh'],
      // When what was last used: made anew from what is there.
      ['.global-cache*', 'fresh'],
      ['.crates*', 'copied'],
      ['bin', 'within'],
      // Of crates each file and each unpacked directory is written once, and only read from then on.
      ['registry/index', 'copied'],
      ['registry/cache/*', 'within'],
      ['registry/src/*', 'within'],
      ['registry/*', 'within'],
      ['registry', 'within'],
      // A fetch writes into the repositories.
      ['git/db', 'copied'],
      ['git/checkouts/*', 'within'],
      ['git/*', 'within'],
      ['git', 'within'],
    ],
  },
  {
    tool: 'gradle',
    variable: 'GRADLE_USER_HOME',
    usual: '.gradle',
    lock: 'caches/*/*.lock, of the journal and of dependencies above all; daemon/*/registry.bin.lock',
    seed: [
      ['daemon', 'fresh'],
      ['native', 'fresh'],
      ['.tmp', 'fresh'],
      ['wrapper/dists', 'within'],
      ['wrapper', 'within'],
      // What Gradle says may be taken elsewhere: modules-2 without its locks.
      ['caches/modules-2/*.lock', 'fresh'],
      ['caches/modules-2/gc.properties', 'fresh'],
      // Files by group, artefact and version; each stands below its hash.
      ['caches/modules-2/files-2.1', 'within'],
      ['caches/modules-2/files-2.1/*', 'within'],
      ['caches/modules-2/files-2.1/*/*', 'within'],
      ['caches/modules-2/*', 'copied'],
      ['caches/modules-2', 'within'],
      ['caches/*', 'fresh'],
      ['caches', 'within'],
    ],
  },
  {
    tool: 'npm',
    variable: 'npm_config_cache',
    usual: '.npm',
    lock: '_npx/*/concurrency.lock, held while npx installs',
    // _cacache is addressed by content and written by renames, without a lock.
    seed: [
      ['_npx', 'copied'],
      ['_logs', 'fresh'],
    ],
  },
  {
    tool: 'tmp',
    variable: 'TMPDIR',
    lock: 'files with fixed names, as the one of golangci-lint',
    seed: [],
  },
];

export interface CacheChoice {
  /** Tools of {@link toolCaches} whose cache all agents share. */
  readonly share: readonly string[];
  /** Further ones by variable; `from` is absolute, or begins with `~/`. */
  readonly own: Readonly<
    Record<string, { readonly from?: string | undefined; readonly seed: 'copy' | 'links' | 'empty' }>
  >;
}

/** What each agent has for itself; `env`: the user's, `passed`: what commands get of it. */
export function privateCaches(
  { share, own }: CacheChoice,
  env: Readonly<Record<string, string | undefined>>,
  passed: Readonly<Record<string, string>>,
): readonly PrivateCache[] {
  const home = env['HOME'] ?? homedir();
  const placed = (path: string): string => (path.startsWith('~/') ? join(home, path.slice(2)) : path);
  const shipped = toolCaches
    .filter(({ tool, variable }) => !share.includes(tool) && own[variable] === undefined)
    .map(({ variable, usual, seed }): PrivateCache => {
      const from = usual === undefined ? undefined : (env[variable] ?? join(home, usual));
      return { variable, seed, ...(from !== undefined && { from }) };
    });
  const further = Object.entries(own).map(([variable, { from = env[variable], seed }]): PrivateCache => {
    const isSeeded = from !== undefined && seed !== 'empty';
    return { variable, seed: seed === 'copy' ? [['*', 'copied']] : [], ...(isSeeded && { from: placed(from) }) };
  });
  const cargo = share.includes('cargo') ? [] : cargoTargets(env['CARGO_HOME'] ?? join(home, '.cargo'), passed);
  return [...shipped, ...cargo.filter(({ variable }) => own[variable] === undefined), ...further];
}

/** Build directories that the user has made common to all trees; the usual ones stand in the tree. */
function cargoTargets(cargoHome: string, passed: Readonly<Record<string, string>>): PrivateCache[] {
  const file = ['config.toml', 'config'].map((name) => join(cargoHome, name)).find((path) => existsSync(path));
  const text = file === undefined ? '' : readFileSync(file, 'utf8');
  return [
    { variable: 'CARGO_TARGET_DIR', key: /^\s*(build\.)?target-dir\s*=/m },
    { variable: 'CARGO_BUILD_BUILD_DIR', key: /^\s*(build\.)?build-dir\s*=/m },
  ]
    .filter(({ variable, key }) => isAbsolute(passed[variable] ?? '') || key.test(text))
    .map(({ variable }) => ({ variable, seed: [] }));
}
