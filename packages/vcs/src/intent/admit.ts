import { copyOf, utf8Of } from '../core/allocate.ts';
import type { RepoPath } from '../core/ids.ts';
import type { Author, Change, Intent, Precondition, RecordWrite } from '../core/intent.ts';
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

function editsOf(change: Change): Edit[] {
  const path = pathOf(change.path, 'path');
  const expect = preconditionOf(change.expect, path);
  switch (change.kind) {
    case 'put':
      return [{ kind: 'put', path, expect, content: contentOf(change.content, path), mode: modeOf(change.mode, path) }];
    case 'delete':
      return [{ kind: 'delete', path, expect }];
    case 'chmod': {
      const mode = modeOf(change.mode, path);
      if (mode === undefined) throw malformed(`${path} has no mode to change to`);
      return [{ kind: 'chmod', path, expect, mode }];
    }
    case 'move': {
      const to = pathOf(change.to, 'path');
      const expectTo =
        change.expectTo === undefined ? ({ kind: 'absent' } as const) : preconditionOf(change.expectTo, to);
      if (expect.kind === 'absent') throw malformed(`${path} is to be moved but expected absent`);
      const content = change.content === undefined ? undefined : contentOf(change.content, to);
      return [
        { kind: 'delete', path, expect, movedTo: to },
        { kind: 'put', path: to, expect: expectTo, content, mode: undefined, movedFrom: path },
      ];
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
  return { key, expect: preconditionOf(record.expect, `record ${key}`), value };
}

function checkAuthor(author: Author | undefined): Author {
  if (typeof author !== 'object' || author === null) throw malformed('the intent has no author');
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

function checkTwice(names: readonly string[], what: string): void {
  if (names.length < 2) return;
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) throw malformed(`${what} ${JSON.stringify(name)} stands twice in one intent`);
    seen.add(name);
  }
}

function operationIdOf(value: unknown): string | undefined {
  const id = optionalText(value, 'nameBytesMax', 'the operation id');
  if (id === '') throw malformed('the operation id is empty');
  return id;
}

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
    const edits = changes.flatMap(editsOf);
    const records = writes.map(recordOf);
    checkTwice(edits.map((edit) => edit.path), 'path'); // prettier-ignore
    checkTwice(records.map((record) => record.key), 'record'); // prettier-ignore
    const size = edits.reduce((sum, edit) => sum + (edit.kind === 'put' ? (edit.content?.length ?? 0) : 0), 0);
    checkLimit('intentSizeBytesMax', size, 'the size of all contents');
    oneOf(intent.durability, ['flushed', 'visible'], 'durability');
    return {
      branch: intent.branch === undefined ? 'main' : text(intent.branch, 'nameBytesMax', 'the branch'),
      author: checkAuthor(intent.author),
      message: text(intent.message, 'messageBytesMax', 'the message'),
      rationale: optionalText(intent.rationale, 'messageBytesMax', 'the rationale'),
      task: optionalText(intent.task, 'nameBytesMax', 'the task'),
      breakage: optionalText(intent.breakage, 'messageBytesMax', 'the breakage'),
      edits,
      records,
      reads: reads.map((read) => {
        const isVersion = Number.isSafeInteger(read.version) && read.version >= 0;
        if (!isVersion) throw malformed(`the read of ${read.path} has no version`);
        return { path: pathOf(read.path, 'path read'), version: read.version };
      }),
      operationId: operationIdOf(intent.operationId),
      onStale: oneOf(intent.onStale, ['merge', 'reject'], 'onStale'),
      onStaleRead: oneOf(intent.onStaleRead, ['record', 'reject'], 'onStaleRead'),
      mergedSeq: 0,
    };
  } catch (error) {
    if (error instanceof Refusal) return error.rejected;
    throw error;
  }
}
