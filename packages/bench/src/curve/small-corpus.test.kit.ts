/** Files in the sqllogictest format for the tiny engine, made by a program that knows the answers. */

interface Row {
  readonly a: number;
  readonly b: number;
  readonly c: string;
}

/** `b` has numbers of one and of two digits: compared as texts they come in another order. */
const rows: readonly Row[] = Array.from({ length: 12 }, (_, at) => ({
  a: at + 1,
  b: (at * 7) % 13,
  c: `word-${(at * 5) % 12}`,
}));

const setUp: readonly string[] = [
  'statement ok\nCREATE TABLE measures(a INTEGER, b INTEGER, c TEXT)',
  ...rows.map(({ a, b, c }) => `statement ok\nINSERT INTO measures VALUES(${a}, ${b}, '${c}')`),
];

const query = (types: string, sql: string, values: readonly (string | number)[], sort = 'nosort'): string =>
  [`query ${types} ${sort}`, sql, '----', ...values].join('\n');

const numbers = Array.from({ length: 12 }, (_, at) => at);
const byB = rows.toSorted((left, right) => left.b - right.b);

const whereQueries = numbers.flatMap((n) => {
  const less = rows.filter(({ b }) => b < n);
  return [
    query('I', `SELECT a FROM measures WHERE b < ${n}`, less.map(({ a }) => a)), // prettier-ignore
    query('IT', `SELECT a, c FROM measures WHERE b = ${n}`, rows.filter(({ b }) => b === n).flatMap(({ a, c }) => [a, c])), // prettier-ignore
  ];
});

const categories: Readonly<Record<string, readonly string[]>> = {
  create: numbers.flatMap((n) => [
    `statement ok\nCREATE TABLE shelf_${n}(x INTEGER, y TEXT)`,
    `statement error\nCREATE TABLE shelf_${n}(x INTEGER, y TEXT)`,
  ]),
  select: [
    ...setUp,
    query('IIT', 'SELECT * FROM measures', rows.flatMap(({ a, b, c }) => [a, b, c])), // prettier-ignore
    query('T', 'SELECT c FROM measures', rows.map(({ c }) => c)), // prettier-ignore
    query('II', 'SELECT b, a FROM measures', rows.flatMap(({ a, b }) => [b, a])), // prettier-ignore
    'statement error\nSELECT nothing FROM measures',
    ...whereQueries,
    query('I', 'SELECT a FROM measures ORDER BY b', byB.map(({ a }) => a)), // prettier-ignore
    query('I', 'SELECT a FROM measures ORDER BY b DESC', byB.toReversed().map(({ a }) => a)), // prettier-ignore
    query('T', 'SELECT c FROM measures ORDER BY a DESC', rows.toReversed().map(({ c }) => c)), // prettier-ignore
  ],
  aggregate: [
    ...setUp,
    query('I', 'SELECT count(*) FROM measures', [rows.length]),
    query('I', 'SELECT sum(b) FROM measures', [rows.reduce((sum, { b }) => sum + b, 0)]),
    query('I', 'SELECT count(*) FROM measures WHERE b > 9', [rows.filter(({ b }) => b > 9).length]),
  ],
  change: [
    ...setUp,
    'statement ok\nDELETE FROM measures WHERE a > 9',
    query('I', 'SELECT a FROM measures', rows.filter(({ a }) => a <= 9).map(({ a }) => a)), // prettier-ignore
    'statement ok\nUPDATE measures SET b = 0 WHERE a = 1',
    query('I', 'SELECT b FROM measures WHERE a = 1', [0]),
  ],
};

/** By path. */
export const smallCorpus: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(categories).map(([name, records]) => [
    `${name}/${name}-known-answers.test`,
    `hash-threshold 0\n\n${records.map((record) => `${record}\n`).join('\n')}`,
  ]),
);
