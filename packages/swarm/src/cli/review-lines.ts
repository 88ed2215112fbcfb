import type { ReviewReport } from '../review/review-ledger.ts';
import type { CorpusScore } from '../review/score.ts';

const percent = (share: number | undefined): string =>
  share === undefined ? 'unknown' : `${Math.round(share * 100)} %`;
const usd = (nanoUsd: number): string => `$${(nanoUsd / 1e9).toFixed(4)}`;

/** Rows with their columns under one another. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows.map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')); // prettier-ignore
}

/** What the lenses of a run did, for a terminal. */
export function reviewLines({ lenses, pairs, shareOfWork, cost }: ReviewReport): string[] {
  const head = ['lens', 'calls', 'tokens', 'cost', 'findings', 'confirmed', 'refuted', 'unique'];
  const rows = lenses.map(({ lens, calls, cost: own, findings, confirmed, refuted, unique }) => [
    lens,
    ...[calls, own.tokens].map(String),
    usd(own.nanoUsd),
    ...[findings, confirmed, refuted, unique].map(String),
  ]);
  const said = pairs.flatMap(({ lenses: [one, other], landings, correlation }) =>
    landings === 0 ? [] : [`${one} and ${other} agree by ${correlation?.toFixed(2) ?? 'an unknown amount'} (phi, ${landings} landings)`],
  ); // prettier-ignore
  const isShared = shareOfWork.tokens !== undefined || shareOfWork.money !== undefined;
  const share = `reviews cost ${percent(shareOfWork.money)} of the money and ${percent(shareOfWork.tokens)} of the tokens of what they looked at`;
  return [...table([head, ...rows]), ...said, ...(isShared ? [share] : [`reviews cost ${usd(cost.nanoUsd)}, ${cost.tokens} tokens`])]; // prettier-ignore
}

/** What lenses found of a corpus. */
export function scoreLines({ cases, defects, found, lenses, report }: CorpusScore): string[] {
  const rows = lenses.map(({ lens, defects: own, found: hits, falseAlarms, byKind }) => {
    const kinds = Object.entries(byKind).map(([kind, counts]) => `${kind} ${counts.found}/${counts.defects}`);
    return [lens, `${hits} of ${own}`, String(falseAlarms), kinds.join(', ')];
  });
  return [
    `${cases} changes, ${defects} with a seeded defect, ${found} of these found by some lens`,
    ...table([['lens', 'found', 'false alarms', 'by kind'], ...rows]),
    ...reviewLines(report),
  ];
}
