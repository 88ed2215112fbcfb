/** A JSON value and where it stands in its text. */
export type JsonNode = JsonLeaf | JsonObject | JsonArray;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface JsonLeaf extends Span {
  readonly kind: 'leaf';
  /** Equal for equal values: of a string its value, else its text. */
  readonly canonical: string;
}

export interface JsonMember extends Span {
  readonly key: string;
  readonly value: JsonNode;
}

export interface JsonObject extends Span {
  readonly kind: 'object';
  readonly members: readonly JsonMember[];
}

export interface JsonArray extends Span {
  readonly kind: 'array';
  readonly elements: readonly JsonNode[];
}

export interface JsonText {
  readonly text: string;
  readonly root: JsonNode;
}

/** Deeper values are left to the lines. */
const depthMax = 200;

/**
 * Reads a JSON text with the place of each value. undefined for what no JSON
 * parser takes (comments, trailing commas, a byte order mark), for an object with
 * a key twice, whose meaning parsers disagree on, and for very deep nesting.
 */
export function parseJson(content: Uint8Array): JsonText | undefined {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8');
  try {
    // The platform's parser judges what JSON is; the reader below only finds the places.
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const root = new JsonReader(text).value(0);
  return root && { text, root };
}

const leafEnd = /[,\]}\s]|$/g;
const stringPattern = /"(?:[^"\\]|\\.)*"/gy;
const spacePattern = /[ \t\r\n]*/gy;

/** Reads a text that is known to be JSON. */
class JsonReader {
  private readonly text: string;
  private at = 0;

  constructor(text: string) {
    this.text = text;
  }

  value(depth: number): JsonNode | undefined {
    this.space();
    if (depth > depthMax) return undefined;
    const sign = this.text[this.at];
    if (sign === '{') return this.object(depth);
    if (sign === '[') return this.array(depth);
    const start = this.at;
    if (sign === '"') return { kind: 'leaf', start, canonical: JSON.stringify(this.string()), end: this.at };
    leafEnd.lastIndex = start;
    this.at = leafEnd.exec(this.text)?.index ?? this.text.length;
    return { kind: 'leaf', start, end: this.at, canonical: this.text.slice(start, this.at) };
  }

  private object(depth: number): JsonObject | undefined {
    const start = this.at;
    const members: JsonMember[] = [];
    const keys = new Set<string>();
    while (this.isNext(start, '}')) {
      const memberStart = this.at;
      const key = this.string();
      if (keys.has(key)) return undefined;
      keys.add(key);
      this.space();
      this.at++;
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      members.push({ key, value, start: memberStart, end: this.at });
    }
    return { kind: 'object', members, start, end: this.at };
  }

  private array(depth: number): JsonArray | undefined {
    const start = this.at;
    const elements: JsonNode[] = [];
    while (this.isNext(start, ']')) {
      const value = this.value(depth + 1);
      if (value === undefined) return undefined;
      elements.push(value);
    }
    return { kind: 'array', elements, start, end: this.at };
  }

  /** Steps over an opening bracket or a comma to the next child; over the closing bracket where there is none. */
  private isNext(start: number, close: string): boolean {
    if (this.at !== start) this.space();
    if (this.text[this.at] === close) {
      this.at++;
      return false;
    }
    this.at++;
    this.space();
    if (this.text[this.at] !== close) return true;
    this.at++;
    return false;
  }

  private string(): string {
    stringPattern.lastIndex = this.at;
    const [raw = ''] = stringPattern.exec(this.text) ?? [];
    this.at += raw.length;
    return JSON.parse(raw) as string;
  }

  private space(): void {
    spacePattern.lastIndex = this.at;
    this.at += spacePattern.exec(this.text)?.[0].length ?? 0;
  }
}

/** Equal texts for equal values; the order of an object's keys does not count. */
export function canonicalOf(node: JsonNode): string {
  switch (node.kind) {
    case 'leaf':
      return node.canonical;
    case 'array':
      return `[${node.elements.map(canonicalOf).join(',')}]`;
    case 'object': {
      const members = node.members.map(({ key, value }) => `${JSON.stringify(key)}:${canonicalOf(value)}`);
      return `{${members.toSorted().join(',')}}`;
    }
  }
}
