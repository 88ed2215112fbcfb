/**
 * A raw commit object, taken apart without dropping a byte: joining the raw
 * headers, an empty line and the message gives the same bytes again. What git
 * itself cannot read in it is undefined in the structured view.
 */
export interface CommitHeader {
  readonly name: string;
  /** The line with its continuation lines and newlines, as in the object. */
  readonly raw: Buffer;
}

export interface ParsedCommit {
  readonly headers: readonly CommitHeader[];
  /** Undefined where no empty line ends the headers. */
  readonly message: Buffer | undefined;
  readonly tree: string | undefined;
  readonly parents: readonly string[];
  /** The lines after the header's name, without the newline. */
  readonly authorLine: Buffer | undefined;
  readonly committerLine: Buffer | undefined;
  /** The `encoding` header. */
  readonly encoding: string | undefined;
  /** Names of the headers beyond git's four, in order. */
  readonly extraHeaders: readonly string[];
}

export interface GitIdentity {
  readonly name: string;
  readonly email: string;
  /** Seconds since 1970; undefined where git could not read it either. */
  readonly time: number | undefined;
  readonly zone: string | undefined;
}

const newline = 0x0a;
const space = 0x20;
const plainHeaders: ReadonlySet<string> = new Set(['tree', 'parent', 'author', 'committer', 'encoding']);

function valueOf(header: CommitHeader | undefined): Buffer | undefined {
  if (!header) return undefined;
  const end = header.raw.at(-1) === newline ? header.raw.length - 1 : header.raw.length;
  return header.raw.subarray(Math.min(header.name.length + 1, end), end);
}

function idOf(value: Buffer | undefined): string | undefined {
  const text = value?.toString('latin1') ?? '';
  return /^[0-9a-f]{40}$/.test(text) ? text : undefined;
}

/** Those that stand right behind the tree; git reads none further down. */
function parentsOf(headers: readonly CommitHeader[]): string[] {
  const end = headers.findIndex(({ name }, at) => at > 0 && name !== 'parent');
  const lines = headers.slice(1, end < 0 ? headers.length : end);
  return lines.map((header) => idOf(valueOf(header))).filter((id) => id !== undefined);
}

export function parseCommit(raw: Uint8Array): ParsedCommit {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const { headers, message } = splitCommit(bytes);
  const first = (name: string): Buffer | undefined => valueOf(headers.find((header) => header.name === name));
  return {
    headers,
    message,
    tree: idOf(first('tree')),
    parents: parentsOf(headers),
    authorLine: first('author'),
    committerLine: first('committer'),
    encoding: first('encoding')?.toString('latin1'),
    extraHeaders: headers.map(({ name }) => name).filter((name) => !plainHeaders.has(name)),
  };
}

function splitCommit(bytes: Buffer): { readonly headers: CommitHeader[]; readonly message: Buffer | undefined } {
  const headers: CommitHeader[] = [];
  let position = 0;
  while (position < bytes.length) {
    if (bytes[position] === newline) return { headers, message: bytes.subarray(position + 1) };
    let end = bytes.indexOf(newline, position);
    // A line that begins with a space continues the header above it, as in signatures.
    while (end >= 0 && bytes[end + 1] === space) end = bytes.indexOf(newline, end + 1);
    const raw = bytes.subarray(position, end < 0 ? bytes.length : end + 1);
    headers.push({ name: (/^[^ \n]*/.exec(raw.toString('latin1', 0, 256)) ?? [''])[0], raw });
    position += raw.length;
  }
  return { headers, message: undefined };
}

/** The raw bytes again; inverse of {@link parseCommit}. */
export function joinCommit(commit: Pick<ParsedCommit, 'headers' | 'message'>): Buffer {
  const parts = commit.headers.map(({ raw }) => raw);
  return Buffer.concat(commit.message === undefined ? parts : [...parts, Buffer.from('\n'), commit.message]);
}

/** Reads `Name <email> seconds zone` as leniently as git does. */
export function parseIdentity(line: Buffer | undefined, encoding?: string): GitIdentity {
  const bytes = line ?? Buffer.alloc(0);
  const open = bytes.indexOf('<');
  const close = open < 0 ? -1 : bytes.indexOf('>', open);
  // The date stands after the last `>`, with or without a space, since an odd identity may hold several.
  const date = /^\s*(\d{1,13})\s+([+-]\d+)\s*$/.exec(bytes.toString('latin1', bytes.lastIndexOf('>') + 1));
  const name = bytes.subarray(0, open < 0 ? bytes.length : open);
  const email = open < 0 ? Buffer.alloc(0) : bytes.subarray(open + 1, close < 0 ? bytes.length : close);
  return {
    name: decodeText(name, encoding).trim(),
    email: decodeText(email, encoding),
    time: date && close >= 0 ? Number(date[1]) : undefined,
    zone: date && close >= 0 ? date[2] : undefined,
  };
}

/** For the structured view only: by the named encoding, else UTF-8, else one char a byte. */
export function decodeText(bytes: Uint8Array, encoding?: string): string {
  for (const label of [encoding, 'utf-8']) {
    if (label === undefined) continue;
    try {
      return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      // Not in this encoding, or one that is not known here: the next one.
    }
  }
  return Buffer.from(bytes).toString('latin1');
}
