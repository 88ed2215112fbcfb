import { existsSync, readFileSync } from 'node:fs';

const lines = existsSync('elements.jsonl') ? readFileSync('elements.jsonl', 'utf8').trim().split('\n') : [];

/** What is wrong with a row; undefined where it holds. */
function faultOf(line, at) {
  try {
    const { symbol, name, number, ...more } = JSON.parse(line);
    if (Object.keys(more).length > 0) return `unknown fields ${Object.keys(more).join(', ')}`;
    if (!/^[A-Z][a-z]?$/.test(symbol)) return `symbol ${symbol}`;
    if (!/^[A-Z][a-z]+$/.test(name)) return `name ${name}`;
    if (number !== at + 1) return `number ${number}, not ${at + 1}`;
    return undefined;
  } catch (error) {
    return error.message;
  }
}

const faults = lines.flatMap((line, at) => faultOf(line, at) ?? []);
if (process.argv.includes('--count')) console.log(lines.length - faults.length);
else if (lines.length < 10 || faults.length > 0) {
  console.error(`${lines.length} rows; ${faults.join('; ')}`);
  process.exit(1);
}
