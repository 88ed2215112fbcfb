import type { DriverInput, DriverVerdict, MergeDriver } from '../driver.ts';
import { parseJson } from '../json/parse.ts';
import { mergeText } from './text.ts';

/**
 * Lock files, which a tool writes: merged by line where that is clean (and still
 * JSON, where both sides are); a conflict is to be settled by writing the file
 * anew, which {@link hintOf} says.
 */
export const lockDriver: MergeDriver = { id: 'lock', version: '1', merge };

function merge(input: DriverInput): DriverVerdict {
  const verdict = mergeText(input);
  if (
    verdict.kind === 'conflict' ||
    parseJson(input.current) === undefined ||
    parseJson(input.incoming) === undefined
  ) {
    return verdict;
  }
  if (parseJson(verdict.content) !== undefined) return { ...verdict, structure: 'clean' };
  return { kind: 'conflict', lines: 'clean', structure: 'conflict' };
}

/** What writes each lock file anew, once what it is made from is merged. */
const makers: Readonly<Record<string, readonly [command: string, from: string]>> = {
  'package-lock.json': ['npm install --package-lock-only', 'package.json'],
  'npm-shrinkwrap.json': ['npm install --package-lock-only', 'package.json'],
  'yarn.lock': ['yarn install', 'package.json'],
  'pnpm-lock.yaml': ['pnpm install --lockfile-only', 'package.json'],
  'bun.lock': ['bun install --lockfile-only', 'package.json'],
  'bun.lockb': ['bun install --lockfile-only', 'package.json'],
  'deno.lock': ['deno install', 'deno.json'],
  'Cargo.lock': ['cargo update --workspace', 'Cargo.toml'],
  'go.sum': ['go mod tidy', 'go.mod'],
  'Gemfile.lock': ['bundle lock', 'Gemfile'],
  'composer.lock': ['composer update --lock', 'composer.json'],
  'poetry.lock': ['poetry lock', 'pyproject.toml'],
  'uv.lock': ['uv lock', 'pyproject.toml'],
  'pdm.lock': ['pdm lock', 'pyproject.toml'],
  'Pipfile.lock': ['pipenv lock', 'Pipfile'],
  'flake.lock': ['nix flake lock', 'flake.nix'],
  'mix.lock': ['mix deps.get', 'mix.exs'],
  'pubspec.lock': ['dart pub get', 'pubspec.yaml'],
  'Podfile.lock': ['pod install', 'Podfile'],
  'packages.lock.json': ['dotnet restore --force-evaluate', 'the project file'],
};

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

export const isLockFile = (path: string): boolean => Object.hasOwn(makers, nameOf(path));

/** What a resolver of this path's conflict should do; undefined where there is nothing particular. */
export function hintOf(path: string, driver: string): string | undefined {
  const maker = driver === 'lock' || isLockFile(path) ? makers[nameOf(path)] : undefined;
  if (maker !== undefined) return `regenerate it: once ${maker[1]} is merged, run '${maker[0]}'`;
  return driver === 'lock' ? 'regenerate it with the tool that writes it' : undefined;
}
