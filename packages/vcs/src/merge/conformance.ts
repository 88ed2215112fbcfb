import assert from 'node:assert/strict';

import type { Region } from './combine.ts';
import { builtInSamples, generatedSamples, largeSamples, rolesOf } from './conformance-samples.ts';
import type { DriverInput, DriverVerdict, MergeDriver } from './driver.ts';
import { isDriverName } from './drivers/registry.ts';
import { isBinary, splitLines } from './lines.ts';

export type { Region } from './combine.ts';
export type { CleanVerdict, ConflictVerdict, DriverInput, DriverVerdict, MergeDriver } from './driver.ts';

/** One thing that every merge driver must do; it throws an `AssertionError` where the driver does not. */
export interface DriverCheck {
  readonly name: string;
  readonly check: () => void;
}

export interface DriverChecksOptions {
  /** Under which path the suite's own contents are merged. Default: `list.txt`. */
  readonly path?: string;
  /** Contents of the kind that the driver is for; each is merged with its three contents in every role. */
  readonly samples?: readonly DriverInput[];
  /**
   * The parts of a content that a clean merge must not lose. Default: its lines,
   * without the space around them and a comma at their end. A driver that is meant
   * to drop parts gives those that it keeps.
   */
  readonly partsOf?: (content: Uint8Array) => readonly string[];
  /** Time for one merge of a content of some megabytes. Default: 20 s, far beyond what a good driver takes. */
  readonly largeMsMax?: number;
}

/**
 * The checks that a driver must pass before it is registered. Each is asked only
 * what Mound would ask it: no binary contents without `takesBinary`, nothing that
 * both sides added without `takesAdded`. A conflict passes every check but those
 * on the verdict itself: not to merge is never wrong. A driver that must be loaded
 * is loaded before. One that never ends cannot be stopped from here.
 */
export function driverChecks(driver: MergeDriver, options: DriverChecksOptions = {}): readonly DriverCheck[] {
  const { path = 'list.txt', samples = [], partsOf = linesIn, largeMsMax = 20_000 } = options;
  const isAsked = ({ base, current, incoming }: DriverInput): boolean =>
    (base !== undefined || driver.takesAdded === true) &&
    (driver.takesBinary === true || ![base, current, incoming].some((content) => content && isBinary(content)));
  const asked = [...builtInSamples(path), ...generatedSamples(path), ...samples.flatMap(rolesOf)].filter(isAsked);
  const of = (input: DriverInput): DriverVerdict => driver.merge(copyOf(input));
  const forEach =
    (check: (input: DriverInput) => void, inputs: readonly DriverInput[] = asked): (() => void) =>
    () =>
      inputs.forEach((input) => telling(input, check));
  const cleanOf = (input: DriverInput): Uint8Array | undefined => contentIn(of(input));

  return [
    {
      name: 'has a name that .gitattributes can hold, and a version',
      check: () => {
        assert.ok(isDriverName(driver.id), `'${driver.id}' is no name`);
        assert.notEqual(driver.version, '', 'the version is empty');
      },
    },
    {
      name: 'answers whatever the contents hold, with a verdict that is whole',
      check: forEach((input) => assertWhole(input, of(input))),
    },
    {
      name: 'takes the side that changed where only one did',
      check: forEach(({ base, ...input }) => {
        if (base === undefined) return;
        const { current, incoming } = input;
        assertIfClean(cleanOf({ ...input, base, incoming: base }), current, 'only current changed');
        assertIfClean(cleanOf({ ...input, base, current: base }), incoming, 'only incoming changed');
      }),
    },
    {
      name: 'takes once what both sides made alike',
      check: forEach((input) => {
        for (const side of ['current', 'incoming'] as const) {
          const alike = { ...input, current: input[side], incoming: input[side] };
          assertIfClean(cleanOf(alike), input[side], 'both sides are the same');
        }
      }),
    },
    {
      name: 'gives the same verdict for the same contents, whatever it merged before and wherever they lie in memory',
      check: () => {
        const verdicts = asked.map((input) => driver.merge(copyOf(input)));
        for (const [at, input] of [...asked.entries()].toReversed()) {
          telling(input, () => assert.deepEqual(plain(driver.merge(viewOf(input))), plain(verdicts[at])));
        }
      },
    },
    {
      name: 'merges to the same parts when the sides change places',
      check: forEach((input) => {
        const [one, other] = [of(input), of({ ...input, current: input.incoming, incoming: input.current })];
        assert.equal(one.kind, other.kind, 'one way round it merges, the other way it does not');
        const parts = [one, other].map((verdict) => partsOf(contentIn(verdict) ?? nothing).toSorted());
        assert.deepEqual(parts[0], parts[1]);
      }),
    },
    {
      name: 'loses no part that a side added or both kept',
      check: forEach((input) => {
        const merged = cleanOf(input);
        if (merged !== undefined) assertNothingLost(input, merged, partsOf);
      }),
    },
    {
      name: 'keeps text that is text, and how its lines end',
      check: forEach((input) => {
        const merged = cleanOf(input);
        const sides = [input.base ?? input.current, input.current, input.incoming];
        if (merged === undefined || sides.some(isBinary)) return;
        assert.ok(!isBinary(merged), 'the result is no UTF-8 text');
        const isCrlf = (content: Uint8Array): boolean =>
          textOf(content).includes('\r\n') && bareLineFeeds(content) === 0;
        if (sides.every(isCrlf)) assert.equal(bareLineFeeds(merged), 0, 'a line of a CRLF text ends in LF');
        const isEnded = (content: Uint8Array): boolean => content.at(-1) === 10;
        if (sides.every(isEnded) && merged.length > 0) assert.ok(isEnded(merged), 'the last line has lost its end');
      }),
    },
    {
      name: 'writes to none of the contents that it is given',
      check: forEach((input) => {
        const given = copyOf(input);
        driver.merge(given);
        assert.deepEqual(plain(given), plain(input));
      }),
    },
    {
      name: 'ends in time on large contents',
      check: forEach((input) => {
        const start = performance.now();
        const verdict = of(input);
        const took = performance.now() - start;
        assert.ok(took <= largeMsMax, `took ${Math.round(took)} ms`);
        assertWhole(input, verdict);
      }, largeSamples(path)),
    },
  ];
}

const nothing = new Uint8Array(0);

function contentIn(verdict: DriverVerdict): Uint8Array | undefined {
  return verdict.kind === 'clean' ? verdict.content : undefined;
}

function textOf(content: Uint8Array): string {
  return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8');
}

function linesIn(content: Uint8Array): string[] {
  return splitLines(content)
    .map((line) => line.trim().replace(/,$/, ''))
    .filter((line) => line !== '');
}

function copyOf({ path, base, current, incoming }: DriverInput): DriverInput {
  return {
    path,
    base: base && Uint8Array.from(base),
    current: Uint8Array.from(current),
    incoming: Uint8Array.from(incoming),
  };
}

/** The same contents in the middle of a longer buffer, as they come out of a store. */
function viewOf({ path, base, current, incoming }: DriverInput): DriverInput {
  const view = (content: Uint8Array): Uint8Array => {
    const longer = Buffer.concat([Buffer.from('before\n'), content, Buffer.from('after\n')]);
    return longer.subarray(7, 7 + content.length);
  };
  return { path, base: base && view(base), current: view(current), incoming: view(incoming) };
}

/** Comparable whichever kind of bytes it holds. */
const plain = (value: object | undefined): unknown =>
  value &&
  Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, part instanceof Uint8Array ? Buffer.from(part).toString('latin1') : part]), // prettier-ignore
  );

/** A failure says on which contents. */
function telling(input: DriverInput, check: (input: DriverInput) => void): void {
  try {
    check(input);
  } catch (error) {
    const short = (content: Uint8Array | undefined): string =>
      content === undefined ? 'absent' : JSON.stringify(textOf(content.subarray(0, 200)));
    const { base, current, incoming } = input;
    const contents = `base ${short(base)}, current ${short(current)}, incoming ${short(incoming)}`;
    const fault = error instanceof Error ? error.message : String(error);
    throw new assert.AssertionError({ message: `${fault}\n  with ${contents}` });
  }
}

function assertIfClean(merged: Uint8Array | undefined, wanted: Uint8Array, when: string): void {
  if (merged !== undefined) assert.equal(textOf(merged), textOf(wanted), `${when}, and the result is something else`);
}

function assertWhole({ base, current, incoming }: DriverInput, verdict: DriverVerdict): void {
  if (verdict.kind === 'clean') {
    assert.ok(verdict.content instanceof Uint8Array, 'a clean verdict has a content');
    return;
  }
  assert.equal(verdict.kind, 'conflict');
  const { refused, regions } = verdict;
  const lines = { base: splitLines(base ?? nothing), current: splitLines(current), incoming: splitLines(incoming) };
  if (refused !== undefined) {
    const isWithin = refused.start >= 0 && refused.count >= 0 && refused.start + refused.count <= lines.base.length;
    assert.ok(isWithin, 'the lines that it refused are lines of the base');
  }
  if (regions !== undefined) assertCover(lines, regions);
}

function assertCover(
  lines: Readonly<Record<'base' | 'current' | 'incoming', readonly string[]>>,
  regions: readonly Region[],
): void {
  for (const side of ['base', 'current', 'incoming'] as const) {
    let at = 0;
    for (const region of regions) {
      assert.equal(region[side].start, at, `the regions follow one another in ${side}`);
      at += region[side].count;
    }
    assert.equal(at, lines[side].length, `the regions cover all lines of ${side}`);
  }
  assert.ok(
    regions.some(({ kind }) => kind === 'conflict'),
    'one of the regions of a conflict is a conflict',
  );
}

/** Of each part there must be as many as neither side removed, and as many more as one side added. */
function assertNothingLost(
  input: DriverInput,
  merged: Uint8Array,
  partsOf: (content: Uint8Array) => readonly string[],
): void {
  const [was, mine, other, found] = [input.base ?? nothing, input.current, input.incoming, merged].map((content) =>
    countsOf(partsOf(content)),
  ) as [Counts, Counts, Counts, Counts];
  for (const part of new Set([...mine.keys(), ...other.keys()])) {
    const [base, current, incoming] = [was, mine, other].map((counts) => counts.get(part) ?? 0) as [
      number, number, number,
    ]; // prettier-ignore
    const kept = Math.max(0, base - Math.max(0, base - current) - Math.max(0, base - incoming));
    const added = Math.max(0, current - base, incoming - base);
    const times = found.get(part) ?? 0;
    assert.ok(times >= kept + added, `${JSON.stringify(part)} is there ${times} times, not ${kept + added}`);
  }
}

type Counts = ReadonlyMap<string, number>;

function countsOf(parts: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const part of parts) counts.set(part, (counts.get(part) ?? 0) + 1);
  return counts;
}

function bareLineFeeds(content: Uint8Array): number {
  let count = 0;
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) if (content[at - 1] !== 13) count++;
  return count;
}
