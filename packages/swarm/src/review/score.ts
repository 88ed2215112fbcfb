import { pointsAt, type DefectKind, type ReviewCase } from './corpus.ts';
import { ReviewLedger, type Review, type ReviewReport } from './review-ledger.ts';

export interface LensScore {
  readonly lens: string;
  /** Defects among the cases that it looked at, and those that it found. */
  readonly defects: number;
  readonly found: number;
  /** Findings that point at no defect: on clean cases, or beside the defect. */
  readonly falseAlarms: number;
  readonly byKind: Readonly<Partial<Record<DefectKind, { readonly defects: number; readonly found: number }>>>;
}

export interface CorpusScore {
  readonly cases: number;
  readonly defects: number;
  /** By any lens. */
  readonly found: number;
  readonly lenses: readonly LensScore[];
  /** Confirmed is here what the corpus knows; the cost of the work is none, for nobody did it. */
  readonly report: ReviewReport;
}

/** Scores reviews of a corpus' cases; `caseOf`: the case that a landing brought. */
export function scoreReviews(
  cases: readonly ReviewCase[],
  reviews: readonly Review[],
  caseOf: (seq: number) => ReviewCase | undefined,
): CorpusScore {
  const ledger = new ReviewLedger();
  const looked = reviews.flatMap((review) => {
    const subject = caseOf(review.seq);
    return subject === undefined ? [] : [{ review, subject }];
  });
  for (const { review, subject } of looked) {
    ledger.add(review);
    for (const finding of review.findings)
      ledger.judge(review.seq, finding, pointsAt(subject, finding) ? 'confirmed' : 'refuted');
  }
  const hits = looked.filter(({ review, subject }) => review.findings.some((finding) => pointsAt(subject, finding)));
  const names = [...new Set(looked.map(({ review }) => review.lens))].toSorted();
  return {
    cases: cases.length,
    defects: cases.filter(({ defect }) => defect !== undefined).length,
    found: new Set(hits.map(({ subject }) => subject)).size,
    lenses: names.map((lens) => scoreOf(lens, looked)),
    report: ledger.report({ nanoUsd: 0, tokens: 0 }),
  };
}

function scoreOf(
  lens: string,
  looked: readonly { readonly review: Review; readonly subject: ReviewCase }[],
): LensScore {
  const byKind: Partial<Record<DefectKind, { defects: number; found: number }>> = {};
  let falseAlarms = 0;
  for (const { review, subject } of looked) {
    if (review.lens !== lens) continue;
    const hits = review.findings.filter((finding) => pointsAt(subject, finding)).length;
    falseAlarms += review.findings.length - hits;
    if (subject.defect === undefined) continue;
    const counts = (byKind[subject.defect.kind] ??= { defects: 0, found: 0 });
    counts.defects += 1;
    counts.found += Math.min(1, hits);
  }
  const all = Object.values(byKind);
  const total = (of: 'defects' | 'found'): number => all.reduce((sum, counts) => sum + counts[of], 0);
  return { lens, defects: total('defects'), found: total('found'), falseAlarms, byKind };
}
