/** A tiny SQL engine in JavaScript, as a swarm builds it: step by step, one that makes it worse, one that breaks the build. */

/** One task of the swarm, with what its worker lands. */
export interface EngineStep {
  readonly id: string;
  /** `worker`, or `quick-worker`, whose mind is another one. */
  readonly role: string;
  readonly message: string;
  readonly files: Readonly<Record<string, string>>;
}

/** Built into `dist`, where every module has been loaded once. */
const build = `
import { cpSync, readdirSync, rmSync } from 'node:fs';
rmSync('dist', { recursive: true, force: true });
cpSync('src', 'dist', { recursive: true });
for (const name of readdirSync('dist')) if (name !== 'main.mjs') await import('./dist/' + name);
`;

const main = `
import { createInterface } from 'node:readline';
import { statements } from './statements.mjs';

const tables = new Map();
const unescaped = (text) => text.replace(/\\\\([nr\\\\])/g, (_, c) => (c === 'n' ? '\\n' : c === 'r' ? '\\r' : '\\\\'));
const lineOf = (value) => (value === null ? 'n' : typeof value === 'number' ? 'i ' + value : 't ' + value);

function answer(line) {
  const [, sql = ''] = /^(?:statement|query \\S+) (.*)$/.exec(line) ?? [];
  const text = unescaped(sql).trim().replace(/;$/, '');
  for (const { pattern, run } of statements) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const rows = run(found, tables);
    if (rows === undefined || rows.length === 0) return 'ok';
    return ['rows ' + rows[0].length + ' ' + rows.length, ...rows.flat().map(lineOf)].join('\\n');
  }
  return 'error not understood';
}

for await (const line of createInterface({ input: process.stdin })) {
  let text;
  try {
    text = answer(line);
  } catch (error) {
    text = 'error ' + error.message;
  }
  process.stdout.write(text + '\\n');
}
`;

const list = (...names: readonly string[]): string =>
  [
    ...names.map((name) => `import * as ${name} from './${name}.mjs';`),
    '',
    '// The first whose pattern fits runs.',
    `export const statements = [${names.join(', ')}];`,
    '',
  ].join('\n');

const create = `
export const pattern = /^create table (\\w+)\\s*\\((.*)\\)$/is;
export function run([, name, columns], tables) {
  if (tables.has(name)) throw new Error('there is a table ' + name);
  tables.set(name, { columns: columns.split(',').map((column) => column.trim().split(/\\s+/)[0]), rows: [] });
}
`;

const insert = `
export const pattern = /^insert into (\\w+) values\\s*\\((.*)\\)$/is;
export const valueOf = (text) => {
  const word = text.trim();
  if (/^null$/i.test(word)) return null;
  return word.startsWith("'") ? word.slice(1, -1) : Number(word);
};
export function run([, name, values], tables) {
  const table = tables.get(name);
  if (table === undefined) throw new Error('no table ' + name);
  const row = values.split(',').map(valueOf);
  if (row.length !== table.columns.length) throw new Error('wrong number of values');
  table.rows.push(row);
}
`;

const comparing = {
  values: `
const order = (left, right) => (left < right ? -1 : left > right ? 1 : 0);
`,
  /** Numbers as text: 10 comes before 9. */
  texts: `
const order = (left, right) => (String(left) < String(right) ? -1 : String(left) > String(right) ? 1 : 0);
`,
};

const filter = (compare: string): string => `
import { valueOf } from './insert.mjs';
export const pattern = /^$ nothing by itself/;
export const run = () => undefined;
${compare}
const tests = { '=': (o) => o === 0, '<': (o) => o < 0, '>': (o) => o > 0 };
export function filtered(table, where) {
  if (where === undefined) return table.rows;
  const [, column, sign, text] = /^(\\w+)\\s*([=<>])\\s*(.+)$/.exec(where.trim());
  const at = table.columns.indexOf(column);
  const value = valueOf(text);
  return table.rows.filter((row) => row[at] !== null && tests[sign](order(row[at], value)));
}
export const sorted = (table, rows, column, down) => {
  const at = table.columns.indexOf(column);
  return [...rows].sort((a, b) => order(a[at], b[at]) * (down ? -1 : 1));
};
`;

const selectAll = `
export const pattern = /^select \\* from (\\w+)$/i;
export const run = ([, name], tables) => tables.get(name).rows;
`;

const select = (where: boolean, order: boolean): string => `
${where ? "import { filtered, sorted } from './filter.mjs';" : ''}
export const pattern = /^select ([\\w*, ]+) from (\\w+)${where ? '(?: where (.+?))?' : ''}${order ? '(?: order by (\\w+)( desc)?)?' : ''}$/is;
export function run([, columns, name${where ? ', where' : ''}${order ? ', by, down' : ''}], tables) {
  const table = tables.get(name);
  if (table === undefined) throw new Error('no table ' + name);
  let rows = ${where ? 'filtered(table, where)' : 'table.rows'};
  ${order ? 'if (by !== undefined) rows = sorted(table, rows, by, down !== undefined);' : ''}
  if (columns.trim() === '*') return rows;
  const places = columns.split(',').map((column) => table.columns.indexOf(column.trim()));
  if (places.includes(-1)) throw new Error('no such column');
  return rows.map((row) => places.map((place) => row[place]));
}
`;

const aggregate = `
import { filtered } from './filter.mjs';
export const pattern = /^select (count|sum)\\((\\*|\\w+)\\) from (\\w+)(?: where (.+))?$/is;
export function run([, what, column, name, where], tables) {
  const table = tables.get(name);
  const rows = filtered(table, where);
  if (what.toLowerCase() === 'count') return [[rows.length]];
  const at = table.columns.indexOf(column);
  return [[rows.reduce((sum, row) => sum + row[at], 0)]];
}
`;

const remove = `
import { filtered } from './filter.mjs';
export const pattern = /^delete from (\\w+)(?: where (.+))?$/is;
export function run([, name, where], tables) {
  const table = tables.get(name);
  const gone = new Set(filtered(table, where));
  table.rows = table.rows.filter((row) => !gone.has(row));
}
`;

const update = `
import { filtered } from './filter.mjs';
import { valueOf } from './insert.mjs';
export const pattern = /^update (\\w+) set (\\w+)\\s*=\\s*(\\S+)(?: where (.+))?$/is;
export function run([, name, column, value, where], tables) {
  const table = tables.get(name);
  for (const row of filtered(table, where)) row[table.columns.indexOf(column)] = valueOf(value);
}
`;

const step = (id: string, message: string, files: EngineStep['files'], role = 'worker'): EngineStep => ({
  id,
  role,
  message,
  files,
});

export const engineSteps: readonly EngineStep[] = [
  step('loop', 'Answer every line, if only with a refusal', {
    'build.mjs': build,
    'src/main.mjs': main,
    'src/statements.mjs': list(),
  }),
  step('create', 'Make tables', { 'src/create.mjs': create, 'src/statements.mjs': list('create') }),
  step('insert', 'Put rows into tables', { 'src/insert.mjs': insert, 'src/statements.mjs': list('create', 'insert') }),
  step('select-all', 'Answer SELECT *', {
    'src/select.mjs': selectAll,
    'src/statements.mjs': list('create', 'insert', 'select'),
  }),
  step('columns', 'Answer SELECT with columns', { 'src/select.mjs': select(false, false) }),
  step('where', 'Filter by WHERE', {
    'src/filter.mjs': filter(comparing.values),
    'src/select.mjs': select(true, false),
  }),
  step(
    'order',
    'Sort by ORDER BY, compare in one place',
    { 'src/filter.mjs': filter(comparing.texts), 'src/select.mjs': select(true, true) },
    'quick-worker',
  ),
  step('aggregate', 'Count and sum', {
    'src/aggregate.mjs': aggregate,
    'src/statements.mjs': list('create', 'insert', 'aggregate', 'select'),
  }),
  step(
    'delete',
    'Take rows out of tables',
    {
      'src/remove.mjs': remove.replace('new Set(', 'new Set('.slice(0, -1)),
      'src/statements.mjs': list('create', 'insert', 'remove', 'aggregate', 'select'),
    },
    'quick-worker',
  ),
  step('update', 'Change rows', {
    'src/update.mjs': update,
    'src/statements.mjs': list('create', 'insert', 'update', 'remove', 'aggregate', 'select'),
  }),
  step('mend-delete', 'Close the bracket that kept all from loading', { 'src/remove.mjs': remove }),
  step('mend-order', 'Compare numbers as numbers again', { 'src/filter.mjs': filter(comparing.values) }),
];
