// An SQL engine that speaks the line protocol of docs/spec/sql-engine-protocol.md: it hands everything to SQLite.
// npx mound bench sqllogictest --corpus DIR --engine 'node docs/examples/sql-engine.mjs'
import { createInterface } from 'node:readline';
import sqlite from 'node-sqlite3-wasm';

const database = new sqlite.Database();

const unescapeText = (text) => text.replace(/\\([nr\\])/g, (_, c) => (c === 'n' ? '\n' : c === 'r' ? '\r' : '\\'));
const escapeText = (text) => text.replace(/[\\\n\r]/g, (c) => (c === '\n' ? '\\n' : c === '\r' ? '\\r' : '\\\\'));

function lineOf(value) {
  if (value === null) return 'n';
  if (typeof value === 'bigint' || Number.isInteger(value)) return `i ${value}`;
  if (typeof value === 'number') return `r ${String(value).replace('Infinity', 'inf')}`;
  if (typeof value === 'string') return `t ${escapeText(value)}`;
  return `b ${Buffer.from(value).toString('hex')}`;
}

function query(sql) {
  const rows = database.all(sql);
  if (rows.length === 0) return 'ok';
  const columns = Object.keys(rows[0]).length;
  return [`rows ${columns} ${rows.length}`, ...rows.flatMap((row) => Object.values(row).map(lineOf))].join('\n');
}

function answer(line) {
  const [, kind, rest] = /^(statement|query) (.*)$/.exec(line) ?? [];
  if (kind === undefined) throw new Error(`no request: ${line}`);
  try {
    if (kind === 'query') return query(unescapeText(rest.slice(rest.indexOf(' ') + 1)));
    database.exec(unescapeText(rest));
    return 'ok';
  } catch (error) {
    return `error ${escapeText(error.message)}`;
  }
}

for await (const line of createInterface({ input: process.stdin })) process.stdout.write(`${answer(line)}\n`);
