import { describe, expect, test } from 'vitest';
import { driverChecks, type DriverChecksOptions, type DriverInput, type MergeDriver } from './conformance.ts';
import { builtInDriver } from './drivers/registry.ts';
import { mergeText, textDriver } from './drivers/text.ts';
import { StructuralDriver } from './structure/structural.ts';

const json = (...keys: string[]): string => `${JSON.stringify(Object.fromEntries(keys.map((key) => [key, { [key]: [key, 1] }])), undefined, 2)}\n`; // prettier-ignore
const fn = (name: string): string => `function ${name}() {\n  return '${name}';\n}\n`;
const rustFn = (name: string): string => `fn ${name}() -> u8 {\n    7\n}\n`;

const sampleOf =
  (path: string) =>
  (base: string | undefined, current: string, incoming: string): DriverInput => ({
    path,
    base: base === undefined ? undefined : Buffer.from(base),
    current: Buffer.from(current),
    incoming: Buffer.from(incoming),
  });

function jsonSamples(path: string): DriverInput[] {
  const sample = sampleOf(path);
  const twice = (...keys: string[]): string => json(...keys).replaceAll('\n', '\r\n');
  return [
    sample(json('a', 'b'), json('a', 'b', 'x'), json('a', 'b', 'y')),
    sample(json('b', 'd'), json('a', 'b', 'd'), json('b', 'c', 'd')),
    sample(json('a', 'b', 'c'), json('a', 'c'), json('b', 'c', 'd')),
    sample(twice('a'), twice('a', 'x'), twice('a', 'y')),
    sample(json('a').trimEnd(), json('a', 'x').trimEnd(), json('a', 'y').trimEnd()),
    sample('[\n  1,\n  2\n]\n', '[\n  1,\n  2,\n  3\n]\n', '[\n  0,\n  1,\n  2\n]\n'),
    sample(undefined, json('a', 'x'), json('a', 'y')),
  ];
}

function sourceSamples(path: string, one: (name: string) => string): DriverInput[] {
  const sample = sampleOf(path);
  const file = (...names: string[]): string => names.map(one).join('\n');
  const crlf = (...names: string[]): string => file(...names).replaceAll('\n', '\r\n');
  return [
    sample(file('a'), file('a', 'x'), file('a', 'y')),
    sample(file('a', 'b', 'c'), file('a', 'x', 'b', 'c'), file('a', 'b', 'c', 'x')),
    sample(file('a', 'b', 'c'), file('b', 'c'), file('a', 'b', 'c', 'd')),
    sample(crlf('a'), crlf('a', 'x'), crlf('a', 'y')),
    sample(crlf('a').trimEnd(), crlf('a', 'x').trimEnd(), crlf('a', 'y').trimEnd()),
    sample(file('a').trimEnd(), file('a', 'x').trimEnd(), file('a', 'y').trimEnd()),
    sample(file('a'), file('a', 'x'), 'this is { no source'),
  ];
}

const kinds: readonly (readonly [id: string, options: DriverChecksOptions & { readonly path: string }])[] = [
  ['text', { path: 'a.txt' }],
  ['union', { path: 'a.log' }],
  ['binary', { path: 'a.png' }],
  ['json', { path: 'a.json', samples: jsonSamples('a.json') }],
  ['json', { path: 'package.json', samples: jsonSamples('package.json') }],
  ['lock', { path: 'package-lock.json', samples: jsonSamples('package-lock.json') }],
  ...['a.ts', 'a.tsx', 'a.js'].map((path) => ['structural', { path, samples: sourceSamples(path, fn) }] as const),
  ['structural', { path: 'a.rs', samples: sourceSamples('a.rs', rustFn) }],
];

describe.each(kinds)('the %s driver', (id, options) => {
  const driver = builtInDriver(id, options.path);
  for (const { name, check } of driver === undefined ? [] : driverChecks(driver, options)) {
    test(`${name} (${options.path})`, async () => {
      if (driver instanceof StructuralDriver) {
        await driver.load();
        const [sample] = sourceSamples(options.path, options.path === 'a.rs' ? rustFn : fn);
        // Else the lines alone would be checked.
        expect(driver.merge(sample as DriverInput).structure).toBe('clean');
      }
      check();
    });
  }

  test(`is there (${options.path})`, () => expect(driver?.id).toBe(id));
});

describe('a driver that is wrong fails the check of what is wrong with it', () => {
  const failureOf = (driver: MergeDriver, named: string, options?: DriverChecksOptions): string | undefined => {
    const check = driverChecks(driver, options).find(({ name }) => name.includes(named));
    try {
      check?.check();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };

  const wrong = (merge: MergeDriver['merge'], more: Partial<MergeDriver> = {}): MergeDriver => ({
    id: 'wrong',
    version: '1',
    merge,
    ...more,
  });
  const clean = (content: Uint8Array) => ({ kind: 'clean', content }) as const;
  const changed = (change: (text: string) => string): MergeDriver =>
    wrong((input) => {
      const verdict = mergeText(input);
      return verdict.kind === 'clean' ? clean(Buffer.from(change(Buffer.from(verdict.content).toString()))) : verdict;
    });
  let calls = 0;
  let large = 0;

  test.each<[what: string, driver: MergeDriver, failed: string, options?: DriverChecksOptions]>([
    ['has a name with a space', { ...textDriver, id: 'two words' }, 'has a name'],
    ['has no version', { ...textDriver, version: '' }, 'and a version'],
    ['throws on an empty side', wrong((input) => { if (input.current.length === 0) throw new RangeError('empty'); return mergeText(input); }), 'answers whatever'], // prettier-ignore
    ['gives regions that leave lines out', wrong(() => ({ kind: 'conflict', regions: [] })), 'answers whatever'],
    ['refuses lines that are not there', wrong(() => ({ kind: 'conflict', refused: { start: 0, count: 1e6 } })), 'answers whatever'], // prettier-ignore
    ['takes the longer side', wrong(({ current, incoming }) => clean(current.length >= incoming.length ? current : incoming)), 'the side that changed'], // prettier-ignore
    ['appends what both added alike', wrong(({ current, incoming }) => clean(Buffer.concat([current, incoming]))), 'made alike'], // prettier-ignore
    ['remembers', wrong((input) => (calls++ % 2 === 1 ? { kind: 'conflict' } : mergeText(input))), 'the same verdict'], // prettier-ignore
    ['reads beyond its content', wrong(({ current }) => clean(Buffer.from(current.buffer.slice(0)))), 'wherever they lie'], // prettier-ignore
    ['lets current win', wrong((input) => { const verdict = mergeText(input); return verdict.kind === 'clean' ? verdict : clean(input.current); }), 'change places'], // prettier-ignore
    ['drops what stands twice', changed((text) => [...new Set(text.match(/[^\n]*\n|[^\n]+/g))].join('')), 'loses no part'], // prettier-ignore
    ['cuts the last line off', changed((text) => text.replace(/[^\n]*\n$/, '')), 'loses no part'],
    ['writes LF', changed((text) => text.replaceAll('\r\n', '\n')), 'how its lines end'],
    ['trims', changed((text) => text.trimEnd()), 'how its lines end'],
    ['breaks characters', wrong((input) => { const verdict = mergeText(input); return verdict.kind === 'clean' ? clean(verdict.content.map((byte) => (byte > 0xc0 ? 0x41 : byte))) : verdict; }), 'text that is text'], // prettier-ignore
    ['sorts in place', wrong((input) => { input.current.sort(); return { kind: 'conflict' }; }), 'writes to none'], // prettier-ignore
    ['is slow', wrong(({ current }) => { const end = performance.now() + (current.length > 100_000 && large++ === 0 ? 30 : 0); while (performance.now() < end); return { kind: 'conflict' }; }), 'ends in time', { largeMsMax: 5 }], // prettier-ignore
  ])('%s', (_what, driver, failed, options) => {
    expect(failureOf(driver, failed, options)).toBeTypeOf('string');
  });

  test('and says with which contents', () => {
    expect(
      failureOf(
        wrong(() => clean(Buffer.from('x'))),
        'loses',
      ),
    ).toBe(
      '"A" is there 0 times, not 1\n  with base "a\\nb\\nc\\nd\\ne\\n", current "A\\nb\\nc\\nd\\ne\\n", incoming "a\\nb\\nc\\nd\\nE\\n"',
    );
  });
});
