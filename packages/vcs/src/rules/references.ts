import type { RepoPath } from '../core/ids.ts';
import type { Citation, DecisionSet, DocumentFault, Reference } from '../decisions/index.ts';

/** What a file cites as an intent leaves it, and as it stands. */
export interface CitingFile {
  readonly path: RepoPath;
  citations(): readonly Citation[];
  citationsBefore(): readonly Citation[];
}

/** A reference that an intent adds and that is not right. */
export interface ReferenceFinding {
  readonly path: RepoPath;
  readonly line: number;
  readonly id: string;
  readonly standing: Exclude<Reference['standing'], 'right'>;
  readonly says: string;
}

const keyOf = ({ symbol, hash }: Citation, isExact: boolean): string => (isExact ? `${symbol}@${hash ?? ''}` : symbol);

/**
 * What an intent makes worse. What a file cited before it may go on to cite: else nobody could supersede a decision
 * without changing all that cites it in the same intent.
 */
export function findingsOf(
  files: readonly CitingFile[],
  { before, after }: { readonly before: DecisionSet; readonly after: DecisionSet },
): { readonly faults: readonly DocumentFault[]; readonly findings: readonly ReferenceFinding[] } {
  const findings = files.flatMap((file): ReferenceFinding[] => {
    const bad = file.citations().map((citation) => ({ citation, reference: after.judge(file.path, citation) }));
    const wrong = bad.filter(({ reference }) => reference.standing !== 'right');
    if (wrong.length === 0) return [];
    const known = file.citationsBefore();
    const isKnown = (citation: Citation, isExact: boolean): boolean =>
      known.some((one) => keyOf(one, isExact) === keyOf(citation, isExact));
    return wrong.flatMap(({ citation, reference: { line, id, standing, says } }) => {
      if (standing === 'right' || isKnown(citation, standing === 'outdated')) return [];
      return [{ path: file.path, line, id, standing, says: says ?? standing }];
    });
  });
  if (before === after) return { faults: [], findings };
  const faultsBefore = new Set(before.faults.map(({ path, message }) => `${path}\0${message}`));
  return { faults: after.faults.filter(({ path, message }) => !faultsBefore.has(`${path}\0${message}`)), findings };
}
