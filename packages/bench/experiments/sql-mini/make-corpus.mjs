// Makes the questions of the score, and their answers, from a seed. What is
// expected is computed here, apart from any engine that is scored: tables are
// arrays of this program, and each query is made together with its answer.
// They stand in no file that agents could read.

/** A generator of its own, so that the same seed gives the same corpus everywhere (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const words = ['ash', 'birch', 'cedar', 'Doum', 'elm', 'fir', "o'ak", 'Pine', 'rowan', 'yew'];
const textOf = (value) => (value === null ? 'NULL' : typeof value === 'number' ? `${value}` : `'${value.replaceAll("'", "''")}'`); // prettier-ignore

/** NULL first, integers before texts, texts by their characters. */
function compare(left, right) {
  const rank = (value) => (value === null ? 0 : typeof value === 'number' ? 1 : 2);
  if (rank(left) !== rank(right)) return rank(left) - rank(right);
  return left === right ? 0 : left < right ? -1 : 1;
}

const and = (left, right) => (left === 0 || right === 0 ? 0 : left === null || right === null ? null : 1);
const or = (left, right) => (left === 1 || right === 1 ? 1 : left === null || right === null ? null : 0);
const not = (value) => (value === null ? null : 1 - value);
const flag = (value) => (value ? 1 : 0);

/** Statements by category, each with what it should answer: rows, or 'error'. */
export function corpusOf(seed) {
  const random = randomOf(seed);
  const below = (count) => Math.floor(random() * count);
  const pick = (list) => list[below(list.length)];
  const integer = () => below(41) - 20;
  const cases = [];
  const ask = (category, sql, answer) => cases.push({ category, sql, answer });

  /** A condition on columns a, b (integers or NULL) and c (text or NULL): its text, and what it gives for a row. */
  const condition = (depth) => {
    if (depth > 0 && random() < 0.5) {
      const [left, right] = [condition(depth - 1), condition(depth - 1)];
      return pick([
        { sql: `(${left.sql}) AND (${right.sql})`, of: (row) => and(left.of(row), right.of(row)) },
        { sql: `(${left.sql}) OR (${right.sql})`, of: (row) => or(left.of(row), right.of(row)) },
        { sql: `NOT (${left.sql})`, of: (row) => not(left.of(row)) },
      ]);
    }
    const at = below(2);
    const column = 'ab'[at];
    const value = integer();
    const known = (row, give) => (row[at] === null ? null : flag(give(row[at])));
    const [low, high] = [value, value + below(15)];
    const list = [integer(), integer(), integer()];
    const start = pick(['a', 'B', 'f', 'p', 'o']);
    return pick([
      { sql: `${column} < ${value}`, of: (row) => known(row, (one) => one < value) },
      { sql: `${column} >= ${value}`, of: (row) => known(row, (one) => one >= value) },
      { sql: `${column} <> ${value}`, of: (row) => known(row, (one) => one !== value) },
      { sql: `a + 1 = b`, of: (row) => (row[0] === null || row[1] === null ? null : flag(row[0] + 1 === row[1])) },
      { sql: `${column} IS NULL`, of: (row) => flag(row[at] === null) },
      { sql: `${column} IS NOT NULL`, of: (row) => flag(row[at] !== null) },
      { sql: `${column} BETWEEN ${low} AND ${high}`, of: (row) => known(row, (one) => one >= low && one <= high) },
      { sql: `${column} NOT IN (${list.join(', ')})`, of: (row) => known(row, (one) => !list.includes(one)) },
      { sql: `c LIKE '${start}%'`, of: (row) => (row[2] === null ? null : flag(row[2].toLowerCase().startsWith(start.toLowerCase()))) }, // prettier-ignore
    ]);
  };

  for (let round = 0; round < 12; round++) {
    const table = `t${round}`;
    ask('tables', `CREATE TABLE ${table} (a INTEGER, b INTEGER, c TEXT)`, []);
    let rows = Array.from({ length: 6 + below(10) }, () => [
      random() < 0.15 ? null : integer(),
      random() < 0.15 ? null : integer(),
      random() < 0.15 ? null : pick(words),
    ]);
    const values = (some) => some.map((row) => `(${row.map(textOf).join(', ')})`).join(', ');
    ask('tables', `INSERT INTO ${table} VALUES ${values(rows.slice(0, 3))};`, []);
    ask('tables', `insert into ${table} (c, a, b) values ${values(rows.slice(3).map(([a, b, c]) => [c, a, b]))}`, []);
    ask('tables', `SELECT * FROM ${table}`, rows);
    for (let query = 0; query < 4; query++) {
      const where = condition(2);
      const kept = rows.filter((row) => where.of(row) === 1);
      ask('where', `SELECT a, b, c FROM ${table} WHERE ${where.sql}`, kept);
      const [first, way] = [below(3), pick(['ASC', 'DESC'])];
      const sorted = kept.toSorted((left, right) => {
        const order = compare(left[first], right[first]) * (way === 'DESC' ? -1 : 1);
        return order || compare(left[0], right[0]) || compare(left[1], right[1]) || compare(left[2], right[2]);
      });
      const count = 1 + below(6);
      const sql = `SELECT a, b, c FROM ${table} WHERE ${where.sql} ORDER BY ${'abc'[first]} ${way}, a, b, c`;
      ask('order', `${sql} LIMIT ${count}`, sorted.slice(0, count));
      const numbers = kept.map((row) => row[0]).filter((value) => value !== null);
      const sum = numbers.length === 0 ? null : numbers.reduce((total, value) => total + value, 0);
      const edge = (give) => (numbers.length === 0 ? null : give(...numbers));
      ask('aggregates', `SELECT COUNT(*), COUNT(a), SUM(a), MIN(a), MAX(a) FROM ${table} WHERE ${where.sql}`, [
        [kept.length, numbers.length, sum, edge(Math.min), edge(Math.max)],
      ]);
      const [x, y] = [integer(), integer()];
      const quotient = y === 0 ? null : Math.trunc(x / y) + 0;
      ask(
        'expressions',
        `SELECT ${x} + ${y} * 2, (${x} - ${y}) * 3, ${x} / ${y}, ${textOf(pick(words))} || 'x' AS s`,
        undefined,
      );
      const last = cases.at(-1);
      const word = /, '((?:[^']|'')*)' \|\| 'x'/.exec(last.sql)[1].replaceAll("''", "'");
      last.answer = [[x + y * 2, (x - y) * 3, quotient, `${word}x`]];
    }
    const [gone, changed] = [condition(1), condition(1)];
    ask('changes', `DELETE FROM ${table} WHERE ${gone.sql}`, []);
    rows = rows.filter((row) => gone.of(row) !== 1);
    ask('changes', `UPDATE ${table} SET b = a * 2, c = 'new' WHERE ${changed.sql}`, []);
    rows = rows.map((row) => (changed.of(row) === 1 ? [row[0], row[0] === null ? null : row[0] * 2, 'new'] : row));
    ask('changes', `SELECT * FROM ${table}`, rows);
    ask('errors', `SELECT nothing FROM ${table}`, 'error');
    ask('errors', `SELECT * FROM missing${round}`, 'error');
    ask('errors', `SELEC * FROM ${table}`, 'error');
    ask('errors', `INSERT INTO ${table} VALUES (1)`, 'error');
    ask('tables', `DROP TABLE ${table}`, []);
    ask('errors', `SELECT * FROM ${table}`, 'error');
  }
  return cases;
}
