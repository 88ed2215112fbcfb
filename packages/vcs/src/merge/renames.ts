import type { Mode } from '../core/mode.ts';
import { isRegular } from './merge-input.ts';
import { similarityOf, similarityProfile, type SimilarityProfile } from './similarity.ts';

/** A file that is gone, or one that has come. */
export interface RenameFile {
  readonly path: string;
  readonly mode: Mode;
  /** Equal ids are equal contents: a BlobId, or a git object id of all files. */
  readonly blob: string;
  /** Bytes of the content. */
  readonly size: number;
  /** Its content; asked at most once, and only where the ids do not decide. */
  readonly read: () => Uint8Array;
}

export interface Rename {
  readonly from: string;
  readonly to: string;
  /** Percent; 100 where the contents are equal. */
  readonly similarity: number;
}

export interface RenameOptions {
  /** Percent that two contents must have in common at least; default 50. */
  readonly similarityMin?: number;
  /** Points by which a source must be ahead of any other for the same destination; default 10. 0: the best is taken. */
  readonly clearBy?: number;
  /** Contents compared at most; default 100,000. */
  readonly comparisonsMax?: number;
}

/** A content beyond this is found by its id alone. */
const comparedBytesMax = 32 * 1024 * 1024;

interface Pair {
  readonly from: RenameFile;
  readonly to: RenameFile;
  readonly similarity: number;
  readonly nameScore: number;
}

const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0;

/** Better pairs first; whatever the order of the lists, the same. */
const byWorth = (a: Pair, b: Pair): number =>
  b.similarity - a.similarity || b.nameScore - a.nameScore || byPath(a.to, b.to) || byPath(a.from, b.from);

/** Segments that two paths have in common at their ends. */
function nameScoreOf(one: string, other: string): number {
  const [a, b] = [one.split('/'), other.split('/')];
  let score = 0;
  while (score < Math.min(a.length, b.length) && a.at(-1 - score) === b.at(-1 - score)) score++;
  return score;
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

const basenameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * Which of the removed files became which of the added ones, in the order of the
 * destinations. Similarity means what it means in git: bytes in equal lines (cut
 * after 64 bytes) over the bytes of the larger content. Equal contents come first,
 * then files that alone bear their name on both sides, at half of the way from the
 * bound to 100, then the most similar. A source goes to one destination. Links and
 * gitlinks are found where they are equal, empty files not at all: two of them have
 * nothing in common. Where several sources come equally close it is left open,
 * since an edit that follows a guess is lost to its author. Pure; the order of the
 * lists does not matter; time is bounded by `comparisonsMax`.
 */
export function detectRenames(
  removed: readonly RenameFile[],
  added: readonly RenameFile[],
  { similarityMin = 50, clearBy = 10, comparisonsMax = 100_000 }: RenameOptions = {},
): Rename[] {
  if (removed.length === 0 || added.length === 0) return [];
  const search = new RenameSearch(removed, added, similarityMin, clearBy);
  search.matchEqual();
  if (similarityMin < 100) {
    search.matchNames();
    search.matchSimilar(comparisonsMax);
  }
  return search.found.toSorted((a, b) => (a.to < b.to ? -1 : 1));
}

class RenameSearch {
  readonly found: Rename[] = [];
  private sources: readonly RenameFile[];
  private destinations: readonly RenameFile[];
  private readonly similarityMin: number;
  private readonly clearBy: number;
  private readonly profiles = new Map<RenameFile, SimilarityProfile>();

  constructor(removed: readonly RenameFile[], added: readonly RenameFile[], similarityMin: number, clearBy: number) {
    this.sources = removed.toSorted(byPath);
    this.destinations = added.toSorted(byPath);
    this.similarityMin = similarityMin;
    this.clearBy = clearBy;
  }

  matchEqual(): void {
    const byBlob = groupBy(this.sources, ({ blob }) => blob);
    const pairs = this.destinations.flatMap((to) =>
      (byBlob.get(to.blob) ?? []).flatMap((from): Pair[] => {
        const isSameKind = isRegular(from.mode) && isRegular(to.mode) ? true : from.mode === to.mode;
        if (!isSameKind || to.size === 0) return [];
        return [{ from, to, similarity: 100, nameScore: nameScoreOf(from.path, to.path) }];
      }),
    );
    this.take(pairs, this.clearBy > 0);
  }

  matchNames(): void {
    const [from, to] = [this.uniqueNames(this.sources), this.uniqueNames(this.destinations)];
    const least = (this.similarityMin + 100) / 2;
    this.take(
      [...to].flatMap(([name, file]) => {
        const source = from.get(name);
        return source === undefined ? [] : this.pair(source, file, least);
      }),
      false,
    );
  }

  matchSimilar(comparisonsMax: number): void {
    const sources = this.comparable(this.sources).toSorted((a, b) => a.size - b.size || byPath(a, b));
    const destinations = this.comparable(this.destinations);
    if (sources.length === 0 || destinations.length === 0) return;
    const each = Math.floor(comparisonsMax / destinations.length);
    this.take(
      destinations.flatMap((to) =>
        nearestBySize(sources, to.size, each).flatMap((from) => this.pair(from, to, this.similarityMin)),
      ),
      this.clearBy > 0,
    );
  }

  private comparable(files: readonly RenameFile[]): RenameFile[] {
    return files.filter(({ mode, size }) => isRegular(mode) && size > 0 && size <= comparedBytesMax);
  }

  private uniqueNames(files: readonly RenameFile[]): Map<string, RenameFile> {
    const unique = new Map<string, RenameFile>();
    const names = groupBy(files, ({ path }) => basenameOf(path));
    for (const [name, [file, ...others]] of names) {
      if (file !== undefined && others.length === 0 && this.comparable([file]).length === 1) unique.set(name, file);
    }
    return unique;
  }

  /** None where the sizes alone rule it out, or the contents. */
  private pair(from: RenameFile, to: RenameFile, least: number): Pair[] {
    if (Math.min(from.size, to.size) * 100 < Math.max(from.size, to.size) * least) return [];
    const similarity = similarityOf(this.profile(from), this.profile(to));
    if (similarity < least) return [];
    return [{ from, to, similarity, nameScore: nameScoreOf(from.path, to.path) }];
  }

  private profile(file: RenameFile): SimilarityProfile {
    const known = this.profiles.get(file);
    if (known !== undefined) return known;
    const profile = similarityProfile(file.read());
    this.profiles.set(file, profile);
    return profile;
  }

  /** Takes the best pairs, each file once; with `mustBeClear` none that has a rival of another source. */
  private take(pairs: readonly Pair[], mustBeClear: boolean): void {
    const taken = new Set<RenameFile>();
    const rivals = groupBy(pairs, ({ to }) => to);
    for (const { from, to, similarity, nameScore } of pairs.toSorted(byWorth)) {
      if (taken.has(from) || taken.has(to)) continue;
      const isRivalled = (rivals.get(to) ?? []).some(
        (rival) =>
          rival.from !== from &&
          !taken.has(rival.from) &&
          rival.similarity > similarity - this.clearBy &&
          rival.nameScore >= nameScore,
      );
      if (mustBeClear && isRivalled) continue;
      taken.add(from).add(to);
      this.found.push({ from: from.path, to: to.path, similarity });
    }
    const isLeft = (file: RenameFile): boolean => !taken.has(file);
    this.sources = this.sources.filter(isLeft);
    this.destinations = this.destinations.filter(isLeft);
  }
}

/** At most `count` of the files, which are ordered by size: those whose sizes come closest. */
function nearestBySize(files: readonly RenameFile[], size: number, count: number): RenameFile[] {
  if (files.length <= count) return [...files];
  let above = files.findIndex((file) => file.size >= size);
  if (above < 0) above = files.length;
  let below = above - 1;
  const nearest: RenameFile[] = [];
  while (nearest.length < count) {
    const [one, other] = [files[below], files[above]];
    const isBelow = other === undefined || (one !== undefined && size - one.size <= other.size - size);
    const next = isBelow ? one : other;
    if (next === undefined) break;
    nearest.push(next);
    if (isBelow) below--;
    else above++;
  }
  return nearest;
}
