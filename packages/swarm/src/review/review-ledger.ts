import { isSameFinding, type Finding } from '../core/lens.ts';

/** What reviews and the work that they looked at cost. */
export interface ReviewCost {
  readonly nanoUsd: number;
  readonly tokens: number;
}

/** One finished look of a lens at a landing. */
export interface Review {
  readonly seq: number;
  readonly lens: string;
  readonly findings: readonly Finding[];
  readonly cost: ReviewCost;
}

export interface LensReport {
  readonly lens: string;
  readonly calls: number;
  readonly cost: ReviewCost;
  readonly findings: number;
  /** Of those, what somebody else found true: a worker that was put to it mended it, or the corpus knows it. */
  readonly confirmed: number;
  readonly refuted: number;
  /** Confirmed findings that no other lens had on the same landing. */
  readonly unique: number;
}

export interface LensPair {
  readonly lenses: readonly [string, string];
  /** Landings that both looked at. */
  readonly landings: number;
  /** Of "found something" (phi), from -1 to 1; undefined where one of them always or never did. */
  readonly correlation: number | undefined;
}

export interface ReviewReport {
  readonly lenses: readonly LensReport[];
  readonly pairs: readonly LensPair[];
  readonly cost: ReviewCost;
  /** Cost of the reviews as a share of that of the work they looked at, in tokens and in money; undefined where that is 0. */
  readonly shareOfWork: { readonly tokens: number | undefined; readonly money: number | undefined };
}

interface Judged {
  readonly seq: number;
  readonly finding: Finding;
  readonly verdict: 'confirmed' | 'refuted';
}

/** Collects reviews and what became of their findings. */
export class ReviewLedger {
  readonly #reviews: Review[] = [];
  readonly #judged: Judged[] = [];

  add(review: Review): void {
    this.#reviews.push(review);
  }

  get isUsed(): boolean {
    return this.#reviews.length > 0;
  }

  /** Of a landing, by whatever lens. */
  findingsOn(seq: number): Finding[] {
    return this.#reviews.filter((review) => review.seq === seq).flatMap(({ findings }) => findings);
  }

  /** Somebody looked into a finding: it holds for every lens that had it. */
  judge(seq: number, finding: Finding, verdict: 'confirmed' | 'refuted'): void {
    this.#judged.push({ seq, finding, verdict });
  }

  #verdictOn(seq: number, finding: Finding): Judged['verdict'] | undefined {
    return this.#judged.find((one) => one.seq === seq && isSameFinding(one.finding, finding))?.verdict;
  }

  /** `work`: what the reviewed work cost. */
  report(work: ReviewCost): ReviewReport {
    const names = [...new Set(this.#reviews.map(({ lens }) => lens))].toSorted();
    const lenses = names.map((lens) => this.#reportOf(lens));
    const cost = sum(this.#reviews.map((review) => review.cost));
    return {
      lenses,
      pairs: names.flatMap((one, at) => names.slice(at + 1).map((other) => this.#pairOf(one, other))),
      cost,
      shareOfWork: { tokens: share(cost.tokens, work.tokens), money: share(cost.nanoUsd, work.nanoUsd) },
    };
  }

  #reportOf(lens: string): LensReport {
    const own = this.#reviews.filter((review) => review.lens === lens);
    const findings = own.flatMap(({ seq, findings: found }) => found.map((finding) => ({ seq, finding })));
    const counted = (verdict: Judged['verdict']): typeof findings =>
      findings.filter(({ seq, finding }) => this.#verdictOn(seq, finding) === verdict);
    const confirmed = counted('confirmed');
    const others = this.#reviews.filter((review) => review.lens !== lens);
    const isAlone = ({ seq, finding }: (typeof findings)[number]): boolean =>
      !others.some((review) => review.seq === seq && review.findings.some((other) => isSameFinding(other, finding)));
    return {
      lens,
      calls: own.length,
      cost: sum(own.map(({ cost }) => cost)),
      findings: findings.length,
      confirmed: confirmed.length,
      refuted: counted('refuted').length,
      unique: confirmed.filter(isAlone).length,
    };
  }

  #pairOf(one: string, other: string): LensPair {
    const seen = (lens: string): Map<number, boolean> =>
      new Map(
        this.#reviews.filter((review) => review.lens === lens).map(({ seq, findings }) => [seq, findings.length > 0]),
      );
    const [left, right] = [seen(one), seen(other)];
    const both = [...left].flatMap(([seq, found]) => {
      const also = right.get(seq);
      return also === undefined ? [] : [[found, also] as const];
    });
    return { lenses: [one, other], landings: both.length, correlation: phiOf(both) };
  }
}

/** The correlation of two yes-or-no values; undefined where one of them never changes. */
export function phiOf(pairs: readonly (readonly [boolean, boolean])[]): number | undefined {
  const count = (left: boolean, right: boolean): number =>
    pairs.filter(([one, other]) => one === left && other === right).length;
  const [a, b, c, d] = [count(true, true), count(true, false), count(false, true), count(false, false)];
  const scale = Math.sqrt((a + b) * (c + d) * (a + c) * (b + d));
  return scale === 0 ? undefined : (a * d - b * c) / scale;
}

const sum = (costs: readonly ReviewCost[]): ReviewCost =>
  costs.reduce((left, right) => ({ nanoUsd: left.nanoUsd + right.nanoUsd, tokens: left.tokens + right.tokens }), {
    nanoUsd: 0,
    tokens: 0,
  });

const share = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : part / whole);
