import { builtinModules } from 'node:module';
import { basename, dirname, extname } from 'node:path';

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

const scripts: ReadonlySet<string> = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.jsx', '.tsx']);
const builtIn: ReadonlySet<string> = new Set(builtinModules);
const rustOwn: ReadonlySet<string> = new Set(['std', 'core', 'alloc', 'proc_macro', 'test']);

/** `import … from`, `export … from`, `import` alone, and the two that are calls. */
const importForms = [
  /(?:^|[;\n])\s*(?:import|export)\s[^'"();]*?\bfrom\s*(['"])([^'"\n]+)\1/g,
  /(?:^|[;\n])\s*import\s*(['"])([^'"\n]+)\1/g,
  /\b(?:import|require)\s*\(\s*(['"])([^'"\n]+)\1\s*[,)]/g,
];

function importedBy(text: string): string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '');
  const specifiers = importForms.flatMap((form) => [...code.matchAll(form)]);
  return specifiers.flatMap((match) => {
    const name = match[2] ?? '';
    if (/^(?:\.|\/|node:|#)/.test(name)) return [];
    const parts = name.split('/');
    const whole = name.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
    return builtIn.has(whole) ? [] : [whole];
  });
}

const crates = (text: string): string[] =>
  [...text.matchAll(/^\s*extern\s+crate\s+(\w+)/gm)].flatMap(([, crate = '']) => (rustOwn.has(crate) ? [] : [crate]));

/**
 * Names of packages that a file depends on, each once: of manifests of npm, Cargo, Go and Python, and of what
 * JavaScript, TypeScript and `extern crate` import. Paths, parts of a workspace and the standard library are none;
 * imports of other languages are not looked at.
 */
export function dependencyNames(path: string, text: string): string[] {
  const names =
    readerOf(path)?.(text) ??
    (scripts.has(extname(path)) ? importedBy(text) : extname(path) === '.rs' ? crates(text) : []);
  return [...new Set(names)];
}

/** Packages that a tree itself is made of. */
export function ownNames(tree: Iterable<readonly [path: string, text: string]>): Set<string> {
  const names = new Set<string>();
  for (const [path, text] of tree) {
    const file = basename(path);
    const isNaming = file === 'Cargo.toml' || file === 'package.json';
    const name = isNaming ? /"?\bname"?\s*[=:]\s*"([^"]+)"/.exec(text)?.[1] : undefined;
    if (name !== undefined) names.add(name).add(name.replaceAll('-', '_'));
    if (file === 'lib.rs') names.add(basename(dirname(dirname(path))));
  }
  return names;
}

/** Whether a list has a name, or what it is a part of. */
export const isListed = (name: string, list: Iterable<string>): boolean =>
  [...list].some((one) => one === name || name.startsWith(`${one}/`));
