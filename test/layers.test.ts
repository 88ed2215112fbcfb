import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { expect, test } from 'vitest';
import { projectDir } from './kit/process.ts';

/** Rooms of each package, left to right; a room imports only rooms to its left (those of one list entry: neither). */
const rooms: Readonly<Record<string, readonly (readonly string[])[]>> = {
  vcs: [
    ['core'],
    ['format', 'attributes'],
    ['store'],
    ['intent', 'merge', 'log', 'decisions', 'breakage', 'rules'],
    ['land'],
    ['events'],
    ['views'],
    ['repo'],
    ['wire'],
    ['workspace', 'git', 'check', 'client', 'server', 'mcp'],
    ['cli'],
  ],
  swarm: [
    ['core'],
    ['events', 'model', 'cost', 'knowledge', 'command'],
    ['state', 'tools'],
    ['schedule', 'roles', 'context'],
    ['agent', 'review'],
    ['runtime'],
    ['config'],
    ['cli', 'ui'],
  ],
  bench: [
    ['harness', 'workloads', 'subjects'],
    ['suites', 'audit', 'curve', 'sqllogictest'],
    ['experiment'],
    ['report'],
    ['cli'],
  ],
};
const packageOrder = ['vcs', 'swarm', 'bench'];
/** Rooms of one entry that do build on one another, in this order. */
const withinRow: Readonly<Record<string, readonly string[]>> = {
  vcs: ['decisions', 'rules'],
  swarm: ['command', 'model', 'ui', 'cli'],
  bench: ['harness', 'workloads', 'subjects', 'sqllogictest', 'curve', 'audit', 'suites'],
};

interface Import {
  readonly file: string;
  readonly specifier: string;
}

function importsOf(packageName: string): Import[] {
  const root = join(projectDir, 'packages', packageName, 'src');
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.test(\.kit)?\.ts$/.test(name))
    .flatMap((name) => {
      const source = readFileSync(join(root, name), 'utf8');
      const specifiers = [...source.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1] ?? '');
      return specifiers.map((specifier) => ({ file: name.split(sep).join('/'), specifier }));
    });
}

/** The public entry points of a package. */
function entriesOf(packageName: string): string[] {
  const text = readFileSync(join(projectDir, 'packages', packageName, 'package.json'), 'utf8');
  const { exports } = JSON.parse(text) as { exports: Readonly<Record<string, unknown>> };
  return Object.keys(exports).filter((entry) => entry !== './package.json');
}

/** What an import breaks of the house's order; undefined if nothing. */
export function faultOf(packageName: string, { file, specifier }: Import): string | undefined {
  const [room = ''] = file.split('/');
  const own = /^@mound\/([a-z]+)(\/.+)?$/.exec(specifier);
  if (own) {
    const isLeft = packageOrder.indexOf(own[1] ?? '') < packageOrder.indexOf(packageName);
    const isPublic = entriesOf(own[1] ?? '').includes(`.${own[2] ?? ''}`);
    return isLeft && isPublic ? undefined : `${packageName}/${file} imports ${specifier}`;
  }
  if (!specifier.startsWith('.') || !file.includes('/')) return undefined;
  const target = relative('.', join(file, '..', specifier))
    .split(sep)
    .join('/');
  const [targetRoom = ''] = target.split('/');
  if (targetRoom === '..') return `${packageName}/${file} leaves its package for ${specifier}`;
  if (targetRoom === room || target === 'package.json') return undefined;
  const rows = rooms[packageName] ?? [];
  const rowOf = (name: string): number => rows.findIndex((row) => row.includes(name));
  const order = withinRow[packageName] ?? [];
  const isLeft =
    rowOf(targetRoom) < rowOf(room) ||
    (rowOf(targetRoom) === rowOf(room) &&
      order.includes(targetRoom) &&
      order.indexOf(targetRoom) < order.indexOf(room));
  return rowOf(room) >= 0 && rowOf(targetRoom) >= 0 && isLeft
    ? undefined
    : `${packageName}/${file} imports ${specifier}`;
}

test.each(packageOrder)('rooms of %s import only rooms to their left', (packageName) => {
  const imports = importsOf(packageName);
  expect(imports.length).toBeGreaterThan(10);
  const faults = imports.map((found) => faultOf(packageName, found)).filter((fault) => fault !== undefined);
  expect(faults).toEqual([]);
});

test('the check sees an import to the right, into another package, and past a public entry', () => {
  expect(faultOf('vcs', { file: 'core/x.ts', specifier: '../land/decide.ts' })).toBeDefined();
  expect(faultOf('vcs', { file: 'land/x.ts', specifier: '@mound/swarm' })).toBeDefined();
  expect(faultOf('swarm', { file: 'tools/x.ts', specifier: '@mound/vcs/src/land/decide.ts' })).toBeDefined();
  expect(faultOf('swarm', { file: 'tools/x.ts', specifier: '@mound/vcs/land' })).toBeDefined();
  expect(faultOf('bench', { file: 'subjects/x.ts', specifier: '@mound/vcs/git' })).toBeUndefined();
  expect(faultOf('vcs', { file: 'land/x.ts', specifier: '../core/ids.ts' })).toBeUndefined();
});
