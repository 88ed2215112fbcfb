import type { BlobId } from '../core/ids.ts';
import { absent, any, version, type Author, type Change, type Intent, type Precondition } from '../core/intent.ts';
import type { Read, RecordWrite } from '../core/intent.ts';
import { isMode, type Mode } from '../core/mode.ts';
import {
  bytesOfBase64,
  choice,
  countOf,
  fieldsOf,
  listOf,
  oneOf,
  optional,
  textOf,
  WireFault,
  type Fields,
} from './fields.ts';

/** `absent`, `any`, or a version's number. */
export function preconditionOf(value: unknown, what: string): Precondition {
  if (value === 'absent') return absent;
  if (value === 'any') return any;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return version(value as number);
  throw new WireFault(`${what} is ${JSON.stringify(value) ?? 'missing'}; use a version number, "absent" or "any"`);
}

export const preconditionFields = (expect: Precondition): number | 'absent' | 'any' =>
  expect.kind === 'version' ? expect.seq : expect.kind;

const modeOf = (value: unknown, what: string): Mode => {
  if (!isMode(value)) throw new WireFault(`${what} is the unknown mode ${JSON.stringify(value)}`);
  return value;
};

/** `content` as text, `contentBase64` as bytes; undefined where neither is given. */
function contentOf({ content, contentBase64 }: Fields, path: string): string | Buffer | undefined {
  if (content !== undefined && contentBase64 !== undefined) throw new WireFault(`${path} has its content twice`);
  if (contentBase64 !== undefined) return bytesOfBase64(contentBase64, `the contentBase64 of ${path}`);
  return content === undefined ? undefined : textOf(content, `the content of ${path}`);
}

/** Text where the bytes are UTF-8, base64 otherwise: `content` and `contentBase64`, or others of that form. */
export function bytesFields<K extends string>(
  key: K,
  bytes: Uint8Array,
): { readonly [key in K | `${K}Base64`]?: string } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const text = buffer.toString('utf8');
  const isText = Buffer.from(text).equals(buffer);
  return (isText ? { [key]: text } : { [`${key}Base64`]: buffer.toString('base64') }) as {
    [key in K | `${K}Base64`]?: string;
  };
}

const changeFields = {
  put: ['content', 'contentBase64', 'blob', 'mode'],
  delete: [],
  chmod: ['mode'],
  move: ['to', 'expectTo', 'content', 'contentBase64', 'mode'],
} as const;

function changeOf(value: unknown): Change {
  const all = ['kind', 'path', 'expect', 'content', 'contentBase64', 'blob', 'mode', 'to', 'expectTo'];
  const kind = oneOf(
    fieldsOf(value, 'a change', all)['kind'],
    Object.keys(changeFields) as (keyof typeof changeFields)[],
    'the kind of a change',
  );
  const fields = fieldsOf(value, `a ${kind}`, ['kind', 'path', 'expect', ...changeFields[kind]]);
  const path = textOf(fields['path'], 'the path of a change');
  const expect = preconditionOf(fields['expect'], `the "expect" of ${path}`);
  const mode = optional('mode', fields['mode'], modeOf, `the mode of ${path}`);
  switch (kind) {
    case 'delete':
      return { kind, path, expect };
    case 'chmod':
      return { kind, path, expect, mode: modeOf(fields['mode'], `the mode of ${path}`) };
    case 'put': {
      const content = contentOf(fields, path);
      if ((content === undefined) === (fields['blob'] === undefined)) {
        throw new WireFault(`${path} needs one of "content", "contentBase64" and "blob"`);
      }
      if (content !== undefined) return { kind, path, expect, content, ...mode };
      return { kind, path, expect, blob: textOf(fields['blob'], `the blob of ${path}`) as BlobId, ...mode };
    }
    case 'move': {
      const content = contentOf(fields, path);
      return {
        kind,
        path,
        expect,
        to: textOf(fields['to'], `the "to" of ${path}`),
        ...optional('expectTo', fields['expectTo'], preconditionOf, `the "expectTo" of ${path}`),
        ...(content !== undefined && { content }),
        ...mode,
      };
    }
  }
}

function recordOf(value: unknown): RecordWrite {
  const fields = fieldsOf(value, 'a record', ['key', 'expect', 'value', 'valueBase64', 'objects']);
  const key = textOf(fields['key'], 'the key of a record');
  if ((fields['value'] === undefined) === (fields['valueBase64'] === undefined)) {
    throw new WireFault(`record ${key} needs "value" (null deletes it) or "valueBase64"`);
  }
  const bytes =
    fields['valueBase64'] !== undefined
      ? bytesOfBase64(fields['valueBase64'], `the valueBase64 of record ${key}`)
      : fields['value'] === null
        ? null
        : textOf(fields['value'], `the value of record ${key}`);
  return {
    key,
    expect: preconditionOf(fields['expect'], `the "expect" of record ${key}`),
    value: bytes,
    ...optional(
      'objects',
      fields['objects'],
      (list, what) => listOf(list, what).map((blob) => textOf(blob, 'an object') as BlobId),
      `the "objects" of record ${key}`,
    ),
  };
}

function readOf(value: unknown): Read {
  const { path, version: seq } = fieldsOf(value, 'a read', ['path', 'version']);
  const read = textOf(path, 'the path of a read');
  return { path: read, version: countOf(seq, `the version of the read of ${read}`) };
}

export function authorFromJson(value: unknown): Author {
  const { name, kind, email, agent, role, model } = fieldsOf(value, 'the author', [
    'name',
    'kind',
    'email',
    'agent',
    'role',
    'model',
  ]);
  return {
    name: textOf(name, "the author's name"),
    kind: oneOf(kind, ['human', 'agent', 'system'], "the author's kind"),
    ...optional('email', email, textOf, "the author's email"),
    ...optional('agent', agent, textOf, "the author's agent"),
    ...optional('role', role, textOf, "the author's role"),
    ...optional('model', model, textOf, "the author's model"),
  };
}

/** An intent whose author may be left to whoever takes it in. */
export type WireIntent = Omit<Intent, 'author'> & { readonly author?: Author };

const intentFieldNames = [
  'branch',
  'author',
  'message',
  'rationale',
  'task',
  'breakage',
  'changes',
  'records',
  'reads',
  'asOf',
  'operationId',
  'replaces',
  'onStale',
  'onStaleRead',
  'durability',
];

/** An intent as JSON says it. Errors: {@link WireFault}. */
export function intentOf(value: unknown): WireIntent {
  const fields = fieldsOf(value, 'the intent', intentFieldNames);
  const list =
    <T>(read: (value: unknown) => T) =>
    (values: unknown, what: string): T[] =>
      listOf(values, what).map(read);
  return {
    message: textOf(fields['message'], 'the message'),
    ...optional('author', fields['author'], authorFromJson),
    ...optional('branch', fields['branch'], textOf),
    ...optional('rationale', fields['rationale'], textOf),
    ...optional('task', fields['task'], textOf),
    ...optional('breakage', fields['breakage'], textOf),
    ...optional('changes', fields['changes'], list(changeOf)),
    ...optional('records', fields['records'], list(recordOf)),
    ...optional('reads', fields['reads'], list(readOf)),
    ...optional('asOf', fields['asOf'], countOf),
    ...optional('operationId', fields['operationId'], textOf),
    ...optional('replaces', fields['replaces'], textOf),
    ...optional('onStale', fields['onStale'], choice('merge', 'reject')),
    ...optional('onStaleRead', fields['onStaleRead'], choice('record', 'reject')),
    ...optional('durability', fields['durability'], choice('flushed', 'visible')),
  };
}

type Content = string | Uint8Array | undefined;

const contentFields = (content: Content): object => {
  if (content === undefined) return {};
  return typeof content === 'string' ? { content } : bytesFields('content', content);
};

function changeAsJson(change: Change): object {
  const common = { ...change, expect: preconditionFields(change.expect) };
  if (change.kind === 'put') return { ...common, content: undefined, ...contentFields(change.content) };
  if (change.kind !== 'move') return common;
  const expectTo = change.expectTo === undefined ? {} : { expectTo: preconditionFields(change.expectTo) };
  return { ...common, ...expectTo, content: undefined, ...contentFields(change.content) };
}

function recordAsJson({ key, expect, value, objects }: RecordWrite): object {
  const fields = value === null || typeof value === 'string' ? { value } : bytesFields('value', value);
  return { key, expect: preconditionFields(expect), ...fields, ...(objects !== undefined && { objects }) };
}

/** The same the other way round: what {@link intentOf} reads as this intent. */
export const intentFields = ({ changes, records, ...rest }: WireIntent): object => ({
  ...rest,
  ...(changes !== undefined && { changes: changes.map(changeAsJson) }),
  ...(records !== undefined && { records: records.map(recordAsJson) }),
});
