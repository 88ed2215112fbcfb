import { copyOf, utf8Of } from '../core/allocate.ts';
import { isBlobId, seqOfId, type RepoPath } from '../core/ids.ts';
import type { Author, Change, Intent, Precondition, Read, RecordWrite } from '../core/intent.ts';
import { limits, type LimitName } from '../core/limits.ts';
import { isMode, type Mode } from '../core/mode.ts';
import type { Rejected } from '../core/outcome.ts';
import { isWellFormed } from '../core/text.ts';
import { isPathFault, parsePath } from '../core/path.ts';
import type { AdmittedIntent, Edit, RecordEdit } from './edit.ts';
import { reject } from './reject.ts';

/** Thrown inside this file only; `admit` turns it into its answer. */
class Refusal extends Error {
  readonly rejected: Rejected;

  constructor(rejected: Rejected) {
    super(rejected.message);
    this.rejected = rejected;
  }
}

const malformed = (message: string): Refusal =>
  new Refusal(reject('invalid-intent', message, 'correct the intent and land it again'));

function checkLimit(name: LimitName, found: number, what: string): void {
  if (found <= limits[name]) return;
  const message = `${what} is ${found}, over the limit ${name} of ${limits[name]}`;
  throw new Refusal(reject('limit-exceeded', message, 'split the intent into smaller ones'));
}

function text(value: unknown, name: LimitName, what: string): string {
  if (typeof value !== 'string') throw malformed(`${what} is not a string`);
  if (!isWellFormed(value)) throw malformed(`${what} holds a lone surrogate`);
  // No character takes more than three bytes a unit, so most texts need no count.
  if (value.length * 3 > limits[name]) checkLimit(name, Buffer.byteLength(value), `the size of ${what}`);
  return value;
}

const optionalText = (value: unknown, name: LimitName, what: string): string | undefined =>
  value === undefined || value === null ? undefined : text(value, name, what);

function pathOf(value: unknown, what: string): RepoPath {
  const path = parsePath(value);
  if (!isPathFault(path)) return path;
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  const message = `${what} ${shown} ${path.reason}`;
  throw new Refusal(
    reject('invalid-path', message, 'use a relative path with / between its segments', {
      paths: typeof value === 'string' ? [value] : [],
    }),
  );
}

function bytesOf(value: unknown, what: string): Buffer {
  if (typeof value === 'string') {
    if (!isWellFormed(value)) throw malformed(`${what} holds a lone surrogate`);
    return utf8Of(value);
  }
  // A copy: the caller may go on writing to its own array.
  if (value instanceof Uint8Array) return copyOf(value);
  throw malformed(`${what} is neither text nor bytes`);
}

function preconditionOf(value: unknown, what: string): Precondition {
  const expect = value as Partial<Precondition> | undefined;
  if (expect?.kind === 'absent' || expect?.kind === 'any') return expect;
  if (expect?.kind === 'version' && Number.isSafeInteger(expect.seq) && (expect.seq ?? -1) >= 0) {
    return expect as Precondition;
  }
  throw malformed(`${what} has no valid precondition; use version(n), absent or any`);
}

function modeOf(value: unknown, what: string): Mode | undefined {
  if (value === undefined) return undefined;
  if (!isMode(value)) throw malformed(`${what} has the unknown mode ${JSON.stringify(value)}`);
  return value;
}

function contentOf(value: unknown, path: RepoPath): Buffer {
  const content = bytesOf(value, `the content of ${path}`);
  checkLimit('blobSizeBytesMax', content.length, `the size of ${path}`);
  return content;
}

function addEdits(change: Change, edits: Edit[]): void {
  const path = pathOf(change.path, 'path');
  const expect = preconditionOf(change.expect, path);
  switch (change.kind) {
    case 'put': {
      if (change.content === undefined && 'blob' in change)
        throw malformed(`${path} names an object that is not staged`);
      const content = contentOf(change.content, path);
      edits.push({ kind: 'put', path, expect, content, blob: undefined, mode: modeOf(change.mode, path) });
      return;
    }
    case 'delete':
      edits.push({ kind: 'delete', path, expect });
      return;
    case 'chmod': {
      const mode = modeOf(change.mode, path);
      if (mode === undefined) throw malformed(`${path} has no mode to change to`);
      edits.push({ kind: 'chmod', path, expect, mode });
      return;
    }
    case 'move': {
      const to = pathOf(change.to, 'path');
      const expectTo =
        change.expectTo === undefined ? ({ kind: 'absent' } as const) : preconditionOf(change.expectTo, to);
      if (expect.kind === 'absent') throw malformed(`${path} is to be moved but expected absent`);
      const content = change.content === undefined ? undefined : contentOf(change.content, to);
      const mode = modeOf(change.mode, to);
      edits.push(
        { kind: 'delete', path, expect, movedTo: to },
        { kind: 'put', path: to, expect: expectTo, content, blob: undefined, mode, movedFrom: path },
      );
      return;
    }
    default:
      throw malformed(`a change has the unknown kind ${JSON.stringify((change as { kind?: unknown }).kind)}`);
  }
}

function recordOf(record: RecordWrite): RecordEdit {
  const key = text(record.key, 'recordKeyBytesMax', 'a record key');
  if (key === '') throw malformed('a record key is empty');
  const value = record.value === null ? null : bytesOf(record.value, `the value of record ${key}`);
  if (value) checkLimit('recordValueBytesMax', value.length, `the size of record ${key}`);
  const objects = record.objects ?? [];
  checkLimit('objectsPerRecordMax', objects.length, `the number of objects of record ${key}`);
  if (!objects.every(isBlobId)) throw malformed(`record ${key} names an object that is no blob id`);
  return { key, expect: preconditionOf(record.expect, `record ${key}`), value, objects: [...objects] };
}

/**
 * Authors that were found right of late, so that a busy agent is checked once
 * and is one object to whoever remembers its id, however often its caller
 * writes it down anew.
 */
const checkedAuthors = new Map<string, Author>();
const checkedAuthorsMax = 4096;

const isSameAuthor = (a: Author, b: Author): boolean =>
  a.name === b.name &&
  a.kind === b.kind &&
  a.email === b.email &&
  a.agent === b.agent &&
  a.role === b.role &&
  a.model === b.model;

function authorOf(author: Author | undefined): Author {
  if (typeof author !== 'object' || author === null) throw malformed('the intent has no author');
  const known = checkedAuthors.get(author.agent ?? author.name);
  if (known !== undefined && isSameAuthor(known, author)) return known;
  const checked = checkAuthor(author);
  if (checkedAuthors.size >= checkedAuthorsMax) checkedAuthors.clear();
  checkedAuthors.set(checked.agent ?? checked.name, checked);
  return checked;
}

function checkAuthor(author: Author): Author {
  const name = text(author.name, 'nameBytesMax', "the author's name");
  if (!['human', 'agent', 'system'].includes(author.kind))
    throw malformed("the author's kind is not human, agent or system");
  const { kind } = author;
  const email = optionalText(author.email, 'nameBytesMax', "the author's email");
  const agent = optionalText(author.agent, 'nameBytesMax', "the author's agent");
  const role = optionalText(author.role, 'nameBytesMax', "the author's role");
  const model = optionalText(author.model, 'nameBytesMax', "the author's model");
  return {
    name,
    kind,
    ...(email !== undefined && { email }),
    ...(agent !== undefined && { agent }),
    ...(role !== undefined && { role }),
    ...(model !== undefined && { model }),
  };
}

function oneOf<T extends string>(value: T | undefined, allowed: readonly T[], what: string): T {
  const [fallback] = allowed;
  if (value === undefined && fallback !== undefined) return fallback;
  if (value !== undefined && allowed.includes(value)) return value;
  throw malformed(`${what} is ${JSON.stringify(value)}, not one of ${allowed.join(', ')}`);
}

function checkTwice<T>(rows: readonly T[], nameOf: (row: T) => string, what: string): void {
  if (rows.length < 2) return;
  const seen = new Set<string>();
  for (const row of rows) {
    const name = nameOf(row);
    if (seen.has(name)) throw malformed(`${what} ${JSON.stringify(name)} stands twice in one intent`);
    seen.add(name);
  }
}

function operationIdOf(value: unknown): string | undefined {
  const id = optionalText(value, 'nameBytesMax', 'the operation id');
  if (id === '') throw malformed('the operation id is empty');
  return id;
}

function replacesOf(id: unknown): number {
  if (id === undefined || id === null) return 0;
  const seq = typeof id === 'string' ? seqOfId(id, 'c') : undefined;
  if (seq === undefined) throw malformed(`replaces is ${JSON.stringify(id)}, not the id of a conflict`);
  return seq;
}

function readOf(read: Read): Read {
  const isVersion = Number.isSafeInteger(read.version) && read.version >= 0;
  if (!isVersion) throw malformed(`the read of ${read.path} has no version`);
  return { path: pathOf(read.path, 'path read'), version: read.version };
}

function asOfOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw malformed('asOf is not a seq');
}

const noRecords: readonly RecordEdit[] = [];
const noReads: readonly Read[] = [];
/** The first of each is the default. */
const durabilities = ['flushed', 'visible'] as const;
const onStales = ['merge', 'reject'] as const;
const onStaleReads = ['record', 'reject'] as const;

/** Checks an intent's form. Pure: it looks at nothing but the intent. */
export function admit(intent: Intent): AdmittedIntent | Rejected {
  try {
    const changes = intent.changes ?? [];
    const writes = intent.records ?? [];
    const reads = intent.reads ?? [];
    checkLimit('changesPerIntentMax', changes.length, 'the number of changes');
    checkLimit('recordsPerIntentMax', writes.length, 'the number of records');
    checkLimit('readsPerIntentMax', reads.length, 'the number of reads');
    if (changes.length + writes.length === 0) throw malformed('the intent has neither a change nor a record');
    const edits: Edit[] = [];
    for (const change of changes) addEdits(change, edits);
    const records = writes.length === 0 ? noRecords : writes.map(recordOf);
    checkTwice(edits, ({ path }) => path, 'path');
    checkTwice(records, ({ key }) => key, 'record');
    let size = 0;
    for (const edit of edits) if (edit.kind === 'put') size += edit.content?.length ?? 0;
    checkLimit('intentSizeBytesMax', size, 'the size of all contents');
    oneOf(intent.durability, durabilities, 'durability');
    return {
      branch: intent.branch === undefined ? 'main' : text(intent.branch, 'nameBytesMax', 'the branch'),
      author: authorOf(intent.author),
      message: text(intent.message, 'messageBytesMax', 'the message'),
      rationale: optionalText(intent.rationale, 'messageBytesMax', 'the rationale'),
      task: optionalText(intent.task, 'nameBytesMax', 'the task'),
      breakage: optionalText(intent.breakage, 'messageBytesMax', 'the breakage'),
      edits,
      records,
      reads: reads.length === 0 ? noReads : reads.map(readOf),
      asOf: asOfOf(intent.asOf),
      operationId: operationIdOf(intent.operationId),
      onStale: oneOf(intent.onStale, onStales, 'onStale'),
      onStaleRead: oneOf(intent.onStaleRead, onStaleReads, 'onStaleRead'),
      mergedSeq: 0,
      replaces: replacesOf(intent.replaces),
    };
  } catch (error) {
    if (error instanceof Refusal) return error.rejected;
    throw error;
  }
}
