import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { absent, any, version, type Change, type Intent } from '../core/intent.ts';
import { modes } from '../core/mode.ts';
import { WireFault } from './fields.ts';
import { bytesFields, intentFields, intentOf } from './intent.ts';

const expectation = fc.oneof(fc.constant(absent), fc.constant(any), fc.nat(1e9).map(version));
const mode = fc.option(fc.constantFrom(...modes), { nil: undefined });
const content = fc.oneof(fc.string(), fc.uint8Array({ maxLength: 40 }));
/** Without the fields that are undefined. */
const dense = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;

const change: fc.Arbitrary<Change> = fc
  .oneof(
    fc.record({ kind: fc.constant('put' as const), path: fc.string(), content, mode, expect: expectation }),
    fc.record({ kind: fc.constant('delete' as const), path: fc.string(), expect: expectation }),
    fc.record({
      kind: fc.constant('chmod' as const),
      path: fc.string(),
      mode: fc.constantFrom(...modes),
      expect: expectation,
    }),
    fc.record({
      kind: fc.constant('move' as const),
      path: fc.string(),
      to: fc.string(),
      expect: expectation,
      expectTo: expectation,
    }),
  )
  .map((one) => dense(one) as Change);

const intent: fc.Arbitrary<Omit<Intent, 'author'>> = fc
  .record({
    message: fc.string(),
    branch: fc.option(fc.string(), { nil: undefined }),
    operationId: fc.option(fc.string(), { nil: undefined }),
    onStale: fc.option(fc.constantFrom('merge' as const, 'reject' as const), { nil: undefined }),
    asOf: fc.option(fc.nat(), { nil: undefined }),
    changes: fc.array(change, { maxLength: 4 }),
    reads: fc.array(fc.record({ path: fc.string(), version: fc.nat() }), { maxLength: 2 }),
    records: fc.array(
      fc.record({ key: fc.string(), expect: expectation, value: fc.oneof(content, fc.constant(null)) }),
      { maxLength: 2 },
    ),
  })
  .map((one) => dense(one) as Omit<Intent, 'author'>);

/** Contents by their bytes: text and the bytes of text are one. */
const hexOf = (bytes: string | Uint8Array): string => Buffer.from(bytes as string).toString('hex');
const bytesOf = (one: Omit<Intent, 'author'>): unknown => ({
  ...one,
  changes: one.changes?.map((row) => ({
    ...row,
    ...('content' in row && row.content !== undefined && { content: hexOf(row.content) }),
  })),
  records: one.records?.map((row) => ({ ...row, value: row.value === null ? null : hexOf(row.value) })),
});

test('an intent goes through JSON and comes back the same, bytes that are no text too', () => {
  fc.assert(
    fc.property(intent, (one) => {
      const back = intentOf(JSON.parse(JSON.stringify(intentFields(one))));
      expect(bytesOf(back)).toEqual(bytesOf(one));
    }),
    { numRuns: 300 },
  );
});

test('bytes are text where they are UTF-8', () => {
  expect(bytesFields('content', Buffer.from('é'))).toEqual({ content: 'é' });
  expect(bytesFields('value', Buffer.of(0xff, 0x00))).toEqual({ valueBase64: '/wA=' });
});

describe('what is refused, and the line that says so', () => {
  const put = { kind: 'put', path: 'a', expect: 'absent', content: 'x' };
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    ['no object', [], /the intent is no object/],
    ['no message', { changes: [put] }, /the message is no text/],
    ['a misspelt field', { message: 'm', change: [put] }, /unknown field "change"/],
    ['a misspelt field of a change', { message: 'm', changes: [{ ...put, contents: 'y' }] }, /unknown field "contents"/],
    ['a field of another kind', { message: 'm', changes: [{ kind: 'delete', path: 'a', expect: 1, mode: 'file' }] }, /a delete has the unknown field "mode"/],
    ['no expectation', { message: 'm', changes: [{ kind: 'put', path: 'a', content: 'x' }] }, /the "expect" of a is missing/],
    ['a version as text', { message: 'm', changes: [{ ...put, expect: '12' }] }, /use a version number/],
    ['no content', { message: 'm', changes: [{ kind: 'put', path: 'a', expect: 'absent' }] }, /a needs one of/],
    ['two contents', { message: 'm', changes: [{ ...put, contentBase64: '' }] }, /its content twice/],
    ['damaged base64', { message: 'm', changes: [{ kind: 'put', path: 'a', expect: 'any', contentBase64: 'a-b' }] }, /no base64/],
    ['an unknown policy', { message: 'm', changes: [put], onStale: 'overwrite' }, /not one of merge, reject/],
    ['a record without a value', { message: 'm', records: [{ key: 'k', expect: 'absent' }] }, /record k needs "value"/],
  ]; // prettier-ignore
  test.each(cases)('%s', (_name, value, line) => {
    expect(() => intentOf(value)).toThrow(WireFault);
    expect(() => intentOf(value)).toThrow(line);
  });
});
