import type { DriverInput } from './driver.ts';

type Content = string | Uint8Array;

const bytesOf = (content: Content): Uint8Array => (typeof content === 'string' ? Buffer.from(content) : content);

const lines = (...names: readonly string[]): string => names.map((name) => `${name}\n`).join('');
const crlf = (...names: readonly string[]): string => names.map((name) => `${name}\r\n`).join('');

/** Base (null: both sides added the path), current, incoming. */
const triples: readonly (readonly [base: Content | null, current: Content, incoming: Content])[] = [
  // Changes apart, at one place, against each other.
  [lines('a', 'b', 'c', 'd', 'e'), lines('A', 'b', 'c', 'd', 'e'), lines('a', 'b', 'c', 'd', 'E')],
  [lines('a'), lines('a', 'x'), lines('a', 'y')],
  [lines('a', 'b', 'c'), lines('a', 'x', 'c'), lines('a', 'y', 'c')],
  [lines('a', 'b', 'c'), lines('a', 'c'), lines('a', 'B', 'c')],
  [lines('a', 'b', 'c', 'd', 'e'), lines('b', 'c', 'd', 'e'), lines('a', 'b', 'c', 'd', 'e', 'f')],
  [lines('a', 'b'), lines('b', 'a'), lines('a', 'b', 'c')],
  // Lines that are there more than once.
  [lines('a', 'a', 'a'), lines('a', 'a'), lines('a', 'a', 'a', 'a')],
  [lines('}', '', '}', '', '}'), lines('}', '', 'x', '', '}', '', '}'), lines('}', '', '}', '', 'y', '', '}')],
  // Nothing on a side, or nothing but space.
  ['', 'x', 'y'],
  ['', lines('x'), lines('y')],
  [lines('a', 'b'), '', lines('a', 'b', 'c')],
  [lines('a', 'b'), lines('a', 'x'), ''],
  ['\n\n\n', '\n', '\n\n\n\n\n'],
  ['  \n', '\t\n', ' \n \n'],
  // How lines end, and that the last does not.
  ['a\nb', 'a\nb\nx', 'y\na\nb'],
  ['a', 'a\n', 'a\nx'],
  ['a\nb\n', 'a\nb', 'a\nb\nc\n'],
  [crlf('a', 'b', 'c', 'd'), crlf('x', 'b', 'c', 'd'), crlf('a', 'b', 'c', 'd', 'y')],
  [crlf('a'), crlf('a', 'x'), crlf('a', 'y')],
  ['a\r\nb', 'a\r\nb\r\nx', 'a\r\nb\r\ny'],
  [lines('a', 'b', 'c', 'd'), crlf('a', 'b', 'c', 'd'), lines('a', 'b', 'c', 'D')],
  ['a\rb\rc', 'a\rb\rx', 'y\rb\rc'],
  // Beyond ASCII: a mark of the byte order, characters of four bytes, line separators that are none.
  [lines('é', 'ü', '日本', 'z'), lines('é!', 'ü', '日本', 'z'), lines('é', 'ü', '日本', '🙂')],
  ['\uFEFFa\nb\nc\nd\n', '\uFEFFx\nb\nc\nd\n', '\uFEFFa\nb\nc\ny\n'],
  ['a\u2028b\nc\nd\n', 'a\u2028x\nc\nd\n', 'a\u2028b\nc\nd\u0085e\n'],
  [lines('e\u0301', 'b', 'c'), lines('\u00E9', 'b', 'c'), lines('e\u0301', 'b', 'C')],
  // Names that an object has, and what looks like a conflict.
  [lines('a'), lines('a', '__proto__'), lines('a', 'constructor')],
  [lines('a'), lines('<<<<<<< x', 'a', '=======', 'b', '>>>>>>> y'), lines('a', '||||||| z')],
  // Not the format that the path promises.
  ['{"a": 1}', '{"a": 1,', '{"a": 2}'],
  ['{}', '{"a": 1, "a": 2}', '{"b": 1} // no JSON'],
  // No text.
  ['\0', '\0a', '\0b'],
  [lines('a'), 'a\n\0', lines('a', 'b')],
  [Uint8Array.of(0xff, 0xfe, 10), Uint8Array.of(0xff, 0xfe, 10, 65, 10), Uint8Array.of(0xc3, 10)],
  // Added by both.
  [null, lines('x'), lines('y')],
  [null, lines('a', 'x'), lines('a', 'y')],
  [null, '', 'x'],
  [null, '\0a', '\0b'],
];

/** What tends to go wrong, whatever a driver is for. */
export const builtInSamples = (path: string): DriverInput[] =>
  triples.map(([base, current, incoming]) => ({
    path,
    base: base === null ? undefined : bytesOf(base),
    current: bytesOf(current),
    incoming: bytesOf(incoming),
  }));

/** Short texts of few different lines, always the same ones: a linear congruential generator with a fixed seed. */
export function generatedSamples(path: string): DriverInput[] {
  let state = 20_260_101;
  const below = (end: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  const text = (): Uint8Array => {
    const made = Array.from({ length: below(6) }, () => `${'abcd'[below(4)] ?? ''}\n`).join('');
    return Buffer.from(below(5) === 0 ? made.slice(0, -1) : made);
  };
  return Array.from({ length: 300 }, () => ({ path, base: text(), current: text(), incoming: text() }));
}

/** A few megabytes: all lines different on each side, all lines alike, one line. */
export function largeSamples(path: string): DriverInput[] {
  const numbered = (letter: string): string =>
    Array.from({ length: 20_000 }, (_, n) => `${letter} line ${n}\n`).join('');
  const repeated = (times: number): string => 'the same line\n'.repeat(times);
  const long = (letter: string): string => letter.repeat(1024 * 1024);
  const sample = (base: string, current: string, incoming: string): DriverInput => ({
    path,
    base: Buffer.from(base),
    current: Buffer.from(current),
    incoming: Buffer.from(incoming),
  });
  return [
    sample(numbered('a'), numbered('b'), numbered('c')),
    sample(numbered('a'), `x\n${numbered('a')}`, `${numbered('a')}y\n`),
    sample(repeated(20_000), repeated(15_000), repeated(25_000)),
    sample(long('a'), long('b'), long('c')),
  ];
}

/** The same three contents, each as base, as current and as incoming. */
export function rolesOf({ path, base, current, incoming }: DriverInput): DriverInput[] {
  if (base === undefined) return [{ path, base, current, incoming }];
  return [
    { path, base, current, incoming },
    { path, base: current, current: base, incoming },
    { path, base: incoming, current, incoming: base },
  ];
}
