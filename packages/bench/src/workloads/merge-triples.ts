import { seededRandom } from '@mound/vcs';

/** One file as it was and as each side left it. */
export interface MergeTriple {
  /** Where it comes from: a merge's id and path, or a number. */
  readonly origin: string;
  readonly path: string;
  readonly base: Uint8Array;
  readonly current: Uint8Array;
  readonly incoming: Uint8Array;
  /** What people committed as the merge; `null`: no such path; absent where nobody did. */
  readonly committed?: Uint8Array | null;
}

type Lines = readonly string[];
type Below = (bound: number) => number;

const encoder = new TextEncoder();
const bytesOf = (lines: Lines): Uint8Array => encoder.encode(lines.join(''));

/**
 * Triple `index` of the stream that `seed` names; each is drawn for itself. Short
 * texts of few distinct lines (where aligners differ most), ordinary code-like ones,
 * CRLF, missing last line ends, emptied files, blocks moved, the same edit twice.
 */
export function generatedTriple(seed: number, index: number): MergeTriple {
  const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index, 0x85ebca6b));
  const below: Below = (bound) => random.below(bound);
  // The first numbers of neighbouring seeds are alike.
  below(2);
  const line = lineOf(below, index);
  const lengths = [6, 18, 18, 60, 200] as const;
  const length = below(lengths[index % lengths.length] ?? 18);
  const base = Array.from({ length }, line);
  const shared = below(4) === 0 ? [editOf(below, base, line)] : [];
  const current = sideOf(below, base, line, shared);
  const incoming = sideOf(below, base, line, shared);
  const [baseEnd, currentEnd, incomingEnd] = endsOf(below);
  return {
    origin: `generated ${seed}/${index}`,
    path: 'f',
    base: bytesOf(baseEnd(base)),
    current: bytesOf(currentEnd(current)),
    incoming: bytesOf(incomingEnd(incoming)),
  };
}

function lineOf(below: Below, index: number): () => string {
  const end = index % 6 === 1 ? (): string => (below(9) === 0 ? '\n' : '\r\n') : (): string => '\n';
  const kinds = [2, 3, 5, 12, 1000][below(5)] ?? 5;
  const words = ['', '}', '  });', 'end', '    return result;', 'é', '\t\tbreak;', '// ---'];
  return () => {
    const kind = below(kinds);
    return (kinds > 5 && below(4) === 0 ? (words[below(words.length)] ?? '') : `line ${kind}`) + end();
  };
}

interface Edit {
  readonly at: number;
  readonly removed: number;
  readonly added: Lines;
}

function editOf(below: Below, base: Lines, line: () => string): Edit {
  const at = below(base.length + 1);
  const removed = below(4);
  // A copy of lines that stand near is what people paste.
  const added = below(4) === 0 ? base.slice(at, at + 1 + below(3)) : Array.from({ length: below(4) }, line);
  return { at, removed, added };
}

function sideOf(below: Below, base: Lines, line: () => string, shared: readonly Edit[]): string[] {
  if (below(40) === 0) return [];
  if (below(40) === 0) return Array.from({ length: base.length }, line);
  const count = below(4) + (base.length > 100 ? below(8) : 0);
  const edits = [...shared, ...Array.from({ length: count }, () => editOf(below, base, line))];
  const side = [...base];
  for (const { at, removed, added } of edits.toSorted((one, other) => other.at - one.at))
    side.splice(at, removed, ...added);
  if (below(15) === 0 && side.length > 4) {
    const moved = side.splice(below(side.length - 2), 1 + below(3));
    side.splice(below(side.length + 1), 0, ...moved);
  }
  return side;
}

const ended = (lines: Lines): Lines => lines;
const unended = (lines: Lines): Lines =>
  lines.length === 0 ? lines : [...lines.slice(0, -1), (lines.at(-1) as string).replace(/\r?\n$/, '')];

/** Mostly all three end in a line end, sometimes none, sometimes each as it comes. */
function endsOf(below: Below): readonly [typeof ended, typeof ended, typeof ended] {
  const kind = below(10);
  if (kind < 7) return [ended, ended, ended];
  if (kind === 7) return [unended, unended, unended];
  const one = (): typeof ended => (below(2) === 0 ? ended : unended);
  return [one(), one(), one()];
}

/** `lines` lines of code-like text with `edits` changes on each side, far apart: as long merges mostly are. */
export function sizedTriple(seed: number, lines: number, edits: number): MergeTriple {
  const random = seededRandom(seed);
  const base = Array.from({ length: lines }, (_, index) =>
    index % 5 === 4 ? '}\n' : `  const value${index} = compute(${random.below(1000)}, state);\n`,
  );
  const side = (mark: string, shift: number): string[] => {
    const copy = [...base];
    for (let edit = 0; edit < edits; edit++) {
      const at = Math.floor(((edit + shift) * lines) / edits);
      copy[at] = `  const ${mark}${edit} = changed(${random.below(1000)});\n`;
    }
    return copy;
  };
  return {
    origin: `${lines} lines, ${edits} edits a side`,
    path: 'f',
    base: bytesOf(base),
    current: bytesOf(side('current', 0.2)),
    incoming: bytesOf(side('incoming', 0.7)),
  };
}

const times = (count: number, line: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => line(index));

/** Inputs on which a line merge without bounds takes quadratic time. */
export function hardTriples(seed: number): MergeTriple[] {
  const random = seededRandom(seed);
  const few = (count: number): string[] => times(count, () => `v${random.below(4)}\n`);
  const rewritten = (base: Lines, mark: string): string[] =>
    base.map((line, index) => (random.below(20) === 0 ? line : random.below(4) === 0 ? '}\n' : `${mark}${index}\n`));
  const base = times(50_000, (index) => `b${index}\n`);
  const triple = (origin: string, [first, current, incoming]: readonly [Lines, Lines, Lines]): MergeTriple => ({
    origin,
    path: 'f',
    base: bytesOf(first),
    current: bytesOf(current),
    incoming: bytesOf(incoming),
  });
  const all = (mark: string): string[] => times(20_000, (index) => `${mark}${index}\n`);
  return [
    triple('20,000 lines, all different', [all('b'), all('c'), all('i')]),
    triple('6,000 lines of four kinds', [few(6_000), few(6_000), few(6_000)]),
    triple('50,000 lines, nearly rewritten', [base, rewritten(base, 'c'), rewritten(base, 'i')]),
  ];
}
