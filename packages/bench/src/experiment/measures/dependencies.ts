import { builtinModules } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';

import { linesOf, type TreeText } from './tree-text.ts';

export interface Violation {
  readonly path: string;
  readonly dependency: string;
}

const scripts = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.jsx', '.tsx']);
const builtIn = new Set(builtinModules);
const rustOwn = new Set(['std', 'core', 'alloc', 'proc_macro', 'test']);

/**
 * What a tree depends on that is not allowed, each once a file: packages in the
 * manifests of npm, Cargo, Go and Python, and names that JavaScript, TypeScript
 * and `extern crate` import. What belongs to the tree itself (a crate of the
 * workspace, a path) and the standard library are no dependencies. Imports of
 * other languages are not looked at, only their manifests.
 */
export function violationsOf(tree: TreeText, allow: readonly string[]): Violation[] {
  const own = ownNames(tree);
  const isAllowed = (dependency: string): boolean =>
    own.has(dependency) || allow.some((one) => one === dependency || dependency.startsWith(`${one}/`));
  return [...tree].flatMap(([path, text]) =>
    [...new Set(namesIn(path, text))]
      .filter((dependency) => !isAllowed(dependency))
      .map((dependency) => ({ path, dependency })),
  );
}

function namesIn(path: string, text: string): string[] {
  const file = basename(path);
  if (file === 'package.json') return ofPackageJson(text);
  if (file === 'Cargo.toml') return ofCargo(text);
  if (file === 'go.mod') return [...text.matchAll(/^\s*(?:require\s+)?([\w.-]+\.[a-z]+\/\S+)\s+v\S+/gm)].flatMap((match) => match[1] ?? []); // prettier-ignore
  if (/^requirements.*\.txt$/.test(file)) return ofRequirements(text);
  if (file === 'pyproject.toml') return ofPyproject(text);
  if (extname(path) === '.rs') return [...text.matchAll(/^\s*extern\s+crate\s+(\w+)/gm)].flatMap(([, crate = '']) => (rustOwn.has(crate) ? [] : [crate])); // prettier-ignore
  return scripts.has(extname(path)) ? ofScript(text) : [];
}

function ofPackageJson(text: string): string[] {
  try {
    const manifest = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
    return ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].flatMap((kind) =>
      Object.entries(manifest[kind] ?? {}).flatMap(([name, range]) => (/^(file|link|workspace):/.test(range) ? [] : [name])),
    ); // prettier-ignore
  } catch {
    return [];
  }
}

function ofCargo(text: string): string[] {
  let section = '';
  return linesOf(text).flatMap((line) => {
    const head = /^\s*\[+([^\]]+)\]+/.exec(line)?.[1];
    if (head !== undefined) {
      section = head.trim();
      const own = /(?:^|\.)(?:dev-|build-)?dependencies\.([\w-]+)$/.exec(section)?.[1];
      return own === undefined ? [] : [own];
    }
    if (!/(?:^|\.)(?:dev-|build-)?dependencies$/.test(section)) return [];
    const [, name, value = ''] = /^\s*"?([\w-]+)"?(?:\.\w+)?\s*=\s*(.*)$/.exec(line) ?? [];
    return name === undefined || /\bpath\s*=/.test(value) ? [] : [name];
  });
}

const ofRequirements = (text: string): string[] =>
  linesOf(text).flatMap((line) => /^\s*([A-Za-z0-9][\w.-]*)/.exec(line)?.[1] ?? []);

function ofPyproject(text: string): string[] {
  const list = /^dependencies\s*=\s*\[([^\]]*)\]/m.exec(text)?.[1] ?? '';
  return [...list.matchAll(/["']([A-Za-z0-9][\w.-]*)/g)].flatMap((match) => match[1] ?? []);
}

/** `import … from`, `export … from`, `import` alone, and the two that are calls. */
const importForms = [
  /(?:^|[;\n])\s*(?:import|export)\s[^'"();]*?\bfrom\s*(['"])([^'"\n]+)\1/g,
  /(?:^|[;\n])\s*import\s*(['"])([^'"\n]+)\1/g,
  /\b(?:import|require)\s*\(\s*(['"])([^'"\n]+)\1\s*[,)]/g,
];

function ofScript(text: string): string[] {
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

/** Packages that the tree itself is made of. */
function ownNames(tree: TreeText): Set<string> {
  const names = new Set<string>();
  for (const [path, text] of tree) {
    const file = basename(path);
    const name = file === 'Cargo.toml' || file === 'package.json' ? /"?\bname"?\s*[=:]\s*"([^"]+)"/.exec(text)?.[1] : undefined; // prettier-ignore
    if (name !== undefined) names.add(name).add(name.replaceAll('-', '_'));
    if (file === 'lib.rs') names.add(basename(dirname(join(path, '..'))));
  }
  return names;
}
