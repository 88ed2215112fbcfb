/** What is wrong with a document, and where. Lines count from 1. */
export interface DocumentFault {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** A named value of a head, as it stands there. */
export interface Field {
  readonly line: number;
  readonly value: string | readonly string[];
}

export interface FrontMatter {
  readonly fields: ReadonlyMap<string, Field>;
  /** The text below the head, its lines ended by LF. */
  readonly text: string;
  /** Line at which the text begins. */
  readonly textLine: number;
}

/** Thrown within this room only. */
export class Fault extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

const fence = '---';

/** A text, or one in quotes as JSON or YAML has them. */
function scalarOf(raw: string, line: number): string {
  const text = raw.trim();
  if (text.startsWith('"')) {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'string') return value;
    } catch {
      // Told below.
    }
    throw new Fault(line, `${text} is no JSON string`);
  }
  if (!text.startsWith("'")) return text;
  if (text.length < 2 || !text.endsWith("'")) throw new Fault(line, `${text} has no closing '`);
  return text.slice(1, -1).replaceAll("''", "'");
}

/** Commas between quotes separate nothing. */
function itemsOf(raw: string, line: number): string[] {
  const body = raw.slice(1, -1).trim();
  if (body === '') return [];
  const items = [...body.matchAll(/\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,]*?)\s*(?:,|$)/gy)]
    .map(([, item = '']) => item)
    .filter((item, at, all) => item !== '' || at < all.length - 1);
  const values = items.map((item) => scalarOf(item, line));
  if (values.includes('')) throw new Fault(line, 'the list has an empty item');
  return values;
}

function valueOf(raw: string, line: number): string | readonly string[] {
  const text = raw.trim();
  if (!text.startsWith('[')) return scalarOf(text, line);
  if (!text.endsWith(']')) throw new Fault(line, 'the list has no closing ]');
  return itemsOf(text, line);
}

/** Reads the head of a document and the text below it. Throws a {@link Fault}. */
export function readFrontMatter(source: string): FrontMatter {
  const lines = source.replace(/^\ufeff/, '').split(/\r\n|\n/);
  if (lines[0]?.trimEnd() !== fence) throw new Fault(1, `the first line is not ${fence}`);
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === fence);
  if (end < 0) throw new Fault(1, `no line ${fence} ends the head`);
  const fields = new Map<string, Field>();
  let open: { readonly name: string; readonly line: number; readonly items: string[] } | undefined;
  for (const [at, line] of lines.slice(1, end).entries()) {
    const number = at + 2;
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const item = /^\s*-(?:\s+(.*))?$/.exec(line);
    if (item !== null) {
      if (open === undefined) throw new Fault(number, 'a list item stands below no name');
      const value = scalarOf(item[1] ?? '', number);
      if (value === '') throw new Fault(number, 'the list has an empty item');
      open.items.push(value);
      fields.set(open.name, { line: open.line, value: open.items });
      continue;
    }
    const named = /^([A-Za-z][A-Za-z0-9_-]*)\s*:(?:\s+(.*))?$/.exec(line.trimEnd());
    if (named === null) throw new Fault(number, `'${line.trim()}' is not NAME: VALUE`);
    const [, name = '', raw = ''] = named;
    if (fields.has(name)) throw new Fault(number, `'${name}' is given twice`);
    fields.set(name, { line: number, value: valueOf(raw, number) });
    open = raw.trim() === '' ? { name, line: number, items: [] } : undefined;
  }
  return { fields, text: lines.slice(end + 1).join('\n'), textLine: end + 2 };
}

/** The head of a document and its text; where they cannot be read, what is wrong and where. */
export function parseFrontMatter(path: string, source: string): FrontMatter | DocumentFault {
  try {
    return readFrontMatter(source);
  } catch (error) {
    if (error instanceof Fault) return { path, line: error.line, message: error.message };
    throw error;
  }
}

/** A document with such a head, from names and values. */
export function renderFrontMatter(fields: Readonly<Record<string, string | readonly string[]>>, text: string): string {
  const head = Object.entries(fields).map(([name, value]) => {
    return `${name}: ${typeof value === 'string' ? writeScalar(value) : writeList(value)}\n`;
  });
  const body = text.trim();
  return `---\n${head.join('')}---\n${body === '' ? '' : `\n${body}\n`}`;
}

/** A value as a head has it: in quotes where it would be read as something else. */
function writeScalar(value: string): string {
  const isPlain = value !== '' && !/^[\s"'[#-]|[\s]$|[\n\r]/.test(value);
  return isPlain ? value : JSON.stringify(value);
}

function writeList(values: readonly string[]): string {
  const items = values.map((value) => (/[,\][]/.test(value) ? JSON.stringify(value) : writeScalar(value)));
  return `[${items.join(', ')}]`;
}
