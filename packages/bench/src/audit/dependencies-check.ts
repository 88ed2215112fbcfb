import { basename } from 'node:path';

import type { CheckReport } from './finding.ts';
import type { LandedFile } from './landed-file.ts';
import { findingsOf, lineAt, type Hit, type TextRule } from './new-hits.ts';

/** Names that a manifest asks for; parts of the project itself are none. */
export interface Dependency {
  readonly name: string;
  readonly line: number;
}

const rule =
  'Names in manifests of npm, Cargo, Python and Go that are not on the list; parts of the project itself are left out. Not seen: code that was copied in';

const own = /^(?:file|link|workspace|portal):/;

function npm(text: string): string[] {
  try {
    const manifest = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const kinds = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];
    return kinds.flatMap((kind) => {
      const some = (manifest[kind] ?? {}) as Readonly<Record<string, unknown>>;
      return Object.entries(some).flatMap(([name, from]) => (own.test(String(from)) ? [] : [name]));
    });
  } catch {
    return [];
  }
}

/** Lines of TOML by the table that they stand in. */
function* tomlLines(text: string): Generator<{ readonly table: string; readonly line: string }> {
  let table = '';
  for (const raw of text.split('\n')) {
    const line = raw.replace(/(^|\s)#.*$/, '').trim();
    const head = /^\[\[?([^\]]+)\]?\]$/.exec(line);
    if (head !== null) table = (head[1] ?? '').replaceAll(/["'\s]/g, '');
    if (line !== '') yield { table, line };
  }
}

const cargoTable = /(?:^|\.)(?:dev-|build-)?dependencies$/;

function cargo(text: string): string[] {
  const names: string[] = [];
  const inner: string[] = [];
  const local = new Set<string>();
  for (const { table, line } of tomlLines(text)) {
    const ofOne = /(?:^|\.)(?:dev-|build-)?dependencies\.([\w-]+)$/.exec(table);
    if (ofOne?.[1] !== undefined) {
      inner.push(ofOne[1]);
      if (/^path\s*=/.test(line)) local.add(ofOne[1]);
    }
    const entry = /^([\w-]+)(?:\.\w+)?\s*=\s*(.*)$/.exec(line);
    if (entry === null || !cargoTable.test(table)) continue;
    const [, name = '', value = ''] = entry;
    if (!/\bpath\s*=|\bworkspace\s*=\s*true/.test(value) && !/\.(?:path|workspace)\s*=/.test(line))
      names.push(/\bpackage\s*=\s*"([^"]+)"/.exec(value)?.[1] ?? name);
  }
  return [...names, ...[...new Set(inner)].filter((name) => !local.has(name))];
}

const pythonName = /^["'\s]*([A-Za-z0-9][\w.-]*)/;

function requirements(text: string): string[] {
  const lines = text.split('\n').map((line) => line.replace(/(^|\s)#.*$/, '').trim());
  return lines.flatMap((line) => (line === '' || line.startsWith('-') ? [] : (pythonName.exec(line)?.[1] ?? [])));
}

function pyproject(text: string): string[] {
  const names: string[] = [];
  for (const [, list = ''] of text.matchAll(/^\s*(?:dependencies|requires|[\w-]+)\s*=\s*\[([^\]]*)\]/gm))
    if (/["'][A-Za-z0-9][\w.-]*\s*(?:[<>=!~;[]|["'])/.test(list))
      names.push(...[...list.matchAll(/["']([A-Za-z0-9][\w.-]*)/g)].map((match) => match[1] ?? ''));
  for (const { table, line } of tomlLines(text)) {
    const [, name] = /^([\w.-]+)\s*=/.exec(line) ?? [];
    if (/^tool\.poetry\.(?:.*\.)?dependencies$/.test(table) && name !== undefined && name !== 'python')
      names.push(name);
  }
  return names;
}

function go(text: string): string[] {
  const blocks = [...text.matchAll(/^require\s*\(([^)]*)\)/gm)].flatMap((match) => (match[1] ?? '').split('\n'));
  const single = [...text.matchAll(/^require\s+([^\s(]+)/gm)].map((match) => match[1] ?? '');
  return [...single, ...blocks.flatMap((line) => /^\s*([^\s/]+\.[^\s]+)\s/.exec(line)?.[1] ?? [])];
}

const readers: readonly (readonly [RegExp, (text: string) => string[]])[] = [
  [/^package\.json$/, npm],
  [/^Cargo\.toml$/, cargo],
  [/^requirements[^/]*\.txt$/, requirements],
  [/^pyproject\.toml$/, pyproject],
  [/^go\.mod$/, go],
];

const readerOf = (path: string): ((text: string) => string[]) | undefined =>
  readers.find(([name]) => name.test(basename(path)))?.[1];

/** Empty where a file is no manifest. */
export function dependenciesOf(path: string, text: string): Dependency[] {
  const names = [...new Set(readerOf(path)?.(text))];
  return names.map((name) => ({ name, line: lineAt(text, Math.max(0, text.indexOf(name))) }));
}

/** `allowed` undefined: none is judged. */
export const dependencyRule =
  (allowed: ReadonlySet<string> | undefined): TextRule =>
  (path, text) =>
    dependenciesOf(path, text).flatMap(({ name, line }): Hit[] => {
      if (allowed === undefined) return [{ weight: 'note', what: 'dependency', words: name, line }];
      return allowed.has(name)
        ? []
        : [{ weight: 'finding', what: 'dependency that is not on the list', words: name, line }];
    });

/** Dependencies beyond what was allowed. */
export function dependenciesCheck(
  files: readonly LandedFile[],
  allowed: ReadonlySet<string> | undefined,
  now: (path: string) => string | undefined,
): CheckReport {
  const manifests = files.filter(({ path }) => readerOf(path) !== undefined);
  return {
    check: 'dependencies',
    rule,
    looked: `${manifests.length} changes of manifests, ${allowed === undefined ? 'no list' : `${allowed.size} names allowed`}`,
    skipped: allowed === undefined ? 'no list was given (--allow): dependencies are notes' : undefined,
    findings: findingsOf(dependencyRule(allowed), manifests, now),
  };
}
