import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { DriverVerdict } from '../driver.ts';
import { jsonDriver } from './json.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

function merge(base: string | undefined, current: string, incoming: string): DriverVerdict {
  const sides = {
    base: base === undefined ? undefined : bytes(base),
    current: bytes(current),
    incoming: bytes(incoming),
  };
  return jsonDriver.merge({ path: 'a.json', ...sides });
}

/** The merged text, or `conflict`. */
function merged(base: string | undefined, current: string, incoming: string): string {
  const verdict = merge(base, current, incoming);
  return verdict.kind === 'clean' ? Buffer.from(verdict.content).toString() : 'conflict';
}

const pretty = (value: unknown, indent: string | number = 2): string => `${JSON.stringify(value, undefined, indent)}\n`;

describe('keys', () => {
  test('different keys added at one place merge, in the order of current, then incoming', () => {
    const base = pretty({ name: 'a', z: 1 });
    const current = pretty({ name: 'a', z: 1, mine: true });
    const incoming = pretty({ name: 'a', z: 1, other: { deep: [1, 2] } });
    expect(merged(base, current, incoming)).toBe(pretty({ name: 'a', z: 1, mine: true, other: { deep: [1, 2] } }));
    expect(merge(base, current, incoming)).toMatchObject({ lines: 'conflict', structure: 'clean' });
  });

  test('the same key with two values is a conflict, with one value it is none', () => {
    expect(merged('{"a":1}', '{"a":2}', '{"a":3}')).toBe('conflict');
    expect(merged('{"a":1}', '{"a":2,"b":1}', '{"a":2,"c":1}')).toBe('{"a":2,"b":1,"c":1}');
    expect(merged('{}', '{"a":1,"b":2}', '{"a":1,"c":3}')).toBe('{"a":1,"b":2,"c":3}');
    expect(merged('{}', '{"a":1}', '{"a":2}')).toBe('conflict');
  });

  test('a key that one side removes and the other changes is a conflict', () => {
    expect(merged(pretty({ a: 1, b: 2 }), pretty({ b: 2 }), pretty({ a: 5, b: 2 }))).toBe('conflict');
    expect(merged(pretty({ a: 1, b: 2 }), pretty({ a: 5, b: 2 }), pretty({ b: 2 }))).toBe('conflict');
    expect(merged(pretty({ a: 1, b: 2 }), pretty({ b: 2 }), pretty({ a: 1, b: 3 }))).toBe(pretty({ b: 3 }));
  });

  test('an object in order stays in order', () => {
    const of = (...keys: string[]): string => pretty({ deps: Object.fromEntries(keys.map((key) => [key, '1'])) });
    expect(merged(of('a', 'm', 'z'), of('a', 'd', 'm', 'z'), of('a', 'c', 'e', 'm', 'z'))).toBe(
      of('a', 'c', 'd', 'e', 'm', 'z'),
    );
  });

  test('a clean merge of lines that means another thing is not taken', () => {
    // Each side adds the key at a place of its own: by line it would be there twice.
    const base = pretty({ a: 1, b: 2, c: 3, d: 4, e: 5 });
    expect(merged(base, pretty({ x: 1, a: 1, b: 2, c: 3, d: 4, e: 5 }), pretty({ a: 1, b: 2, c: 3, d: 4, x: 2, e: 5 }))).toBe('conflict'); // prettier-ignore
    expect(merged(base, pretty({ x: 1, a: 1, b: 2, c: 3, d: 4, e: 5 }), pretty({ a: 1, b: 2, c: 3, d: 4, x: 1, e: 5 }))).toBe(pretty({ x: 1, a: 1, b: 2, c: 3, d: 4, e: 5 })); // prettier-ignore
  });
});

test('conditions of a package.json that both sides add at one place are a conflict: their order counts', () => {
  const of = (exports: object): Uint8Array => bytes(pretty({ name: 'a', exports: { '.': exports } }));
  const sides = {
    base: of({ default: 'a' }),
    current: of({ require: 'b', default: 'a' }),
    incoming: of({ types: 'c', default: 'a' }),
  };
  expect(jsonDriver.merge({ path: 'x/package.json', ...sides }).kind).toBe('conflict');
  expect(jsonDriver.merge({ path: 'other.json', ...sides }).kind).toBe('clean');
});

describe('form', () => {
  test.each([
    ['four spaces', 4, '\n'],
    ['tabs', '\t', '\n'],
    ['CRLF', 2, '\r\n'],
  ])('%s and the missing final newline stay', (_name, indent, eol) => {
    const of = (value: unknown): string => JSON.stringify(value, undefined, indent).replaceAll('\n', eol);
    const base = { a: { b: 1 }, list: [1] };
    const result = merged(of(base), of({ ...base, mine: [1, { k: 2 }] }), of({ ...base, other: { deep: { er: [] } } }));
    expect(result).toBe(of({ ...base, mine: [1, { k: 2 }], other: { deep: { er: [] } } }));
  });

  test('text that a value keeps is kept byte for byte', () => {
    const base = '{ "n" : 1.0e5 ,\n  "s":"\\u00e9" }';
    expect(merged(base, base.replace(' }', ' , "x":1}'), base.replace(' }', ' , "y":2}'))).toBe(
      '{ "n" : 1.0e5 ,\n  "s":"\\u00e9" , "x":1,\n  "y":2}',
    );
  });

  test('an empty object or list takes the form of what comes in', () => {
    expect(
      merged(
        '{\n  "a": {},\n  "b": 1\n}\n',
        '{\n  "a": {},\n  "b": 2\n}\n',
        '{\n  "a": {\n    "x": 1\n  },\n  "b": 1\n}\n',
      ),
    ).toBe('{\n  "a": {\n    "x": 1\n  },\n  "b": 2\n}\n');
  });
});

describe('lists', () => {
  test('elements changed at different places merge, at one place they conflict', () => {
    expect(merged('[1,2,3]', '[0,1,2,3]', '[1,2,3,4]')).toBe('[0,1,2,3,4]');
    expect(merged('[1,2,3]', '[1,2,3,4]', '[1,2,3,5]')).toBe('conflict');
    expect(merged('[{"a":1,"b":1}]', '[{"a":2,"b":1}]', '[{"a":1,"b":2}]')).toBe('[{"a":2,"b":2}]');
  });
});

describe('both added', () => {
  test('two objects merge key by key, anything else is a conflict (case 27)', () => {
    expect(merged(undefined, pretty({ a: 1 }), pretty({ b: 2 }))).toBe(pretty({ a: 1, b: 2 }));
    expect(merged(undefined, pretty({ a: 1 }), pretty({ a: 2 }))).toBe('conflict');
    expect(merged(undefined, '[1]', '[2]')).toBe('conflict');
    expect(merged(undefined, '{"a":1', '{"b":1}')).toBe('conflict');
  });
});

describe('no JSON', () => {
  test('is merged by line', () => {
    const base = '// note\n{\n  "a": 1,\n\n  "b": 2\n}\n';
    const verdict = merge(base, base.replace('1', '3'), base.replace('2', '4'));
    expect(verdict).toMatchObject({ kind: 'clean', lines: 'clean', structure: 'unparsed' });
    const twice = '{\n  "a": 1,\n\n  "a": 2\n}\n';
    expect(merge(twice, twice.replace('1', '3'), twice.replace('2', '4'))).toMatchObject({ structure: 'unparsed' });
  });

  test('two JSON sides of a broken base never give broken JSON', () => {
    expect(merged('{\n"a": 1\n"b": 2\n}\n', '{\n"a": 1,\n"b": 2\n}\n', '{\n"a": 1\n}\n')).toBe('conflict');
  });
});

/** A JSON value of few keys, so that sides meet. */
const value = fc.letrec<{ any: unknown; object: unknown }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(0, 1, 'x', 'é"\\', null, true, -1.5e10),
    fc.array(tie('any'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'ü'), tie('any'), { maxKeys: 4 }),
}));
const indent = fc.constantFrom<string | number>(0, 2, '\t');

test('two JSON texts give JSON or a conflict; the sides may change places', () => {
  fc.assert(
    fc.property(fc.tuple(value.any, value.any, value.any), fc.tuple(indent, indent, indent), (values, indents) => {
      const [base, current, incoming] = values.map((each, at) => JSON.stringify(each, undefined, indents[at]));
      const result = merged(base, current as string, incoming as string);
      const other = merged(base, incoming as string, current as string);
      expect(result === 'conflict').toBe(other === 'conflict');
      if (result === 'conflict') return;
      const sorted = (text: string): string =>
        JSON.stringify(JSON.parse(text), (_key, each: unknown) =>
          each !== null && typeof each === 'object' && !Array.isArray(each)
            ? Object.fromEntries(Object.entries(each).toSorted(([one], [two]) => (one < two ? -1 : 1)))
            : each,
        );
      expect(sorted(result)).toBe(sorted(other));
    }),
    { numRuns: 2000, seed: 27 },
  );
});
