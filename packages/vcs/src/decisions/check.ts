import { DecisionSet, designDocument, type Reference } from './decision-set.ts';
import { isDesignPath } from './decision.ts';
import type { DocumentFault } from './front-matter.ts';
import { generateSymbols, symbolLanguageOf } from './generate.ts';
import { citationsOf, isGenerated } from './reference.ts';

export interface TreeFile {
  readonly path: string;
  readonly content: Buffer;
}

/** What is to be said of the decisions of a tree and of all that cites them. */
export interface DecisionReport {
  readonly set: DecisionSet;
  readonly faults: readonly DocumentFault[];
  /** In the order of the files. */
  readonly references: readonly Reference[];
  readonly missing: readonly Reference[];
  readonly superseded: readonly Reference[];
  readonly outdated: readonly Reference[];
  /** Generated files that are not what would be written by now. */
  readonly stale: readonly string[];
}

export const hasFindings = ({ faults, missing, superseded, outdated, stale }: DecisionReport): boolean =>
  faults.length + missing.length + superseded.length + outdated.length + stale.length > 0;

/** Checks the references of files against the decisions. `files` may hold the documents, which cite one another. */
export function checkDecisions(documents: Iterable<TreeFile>, files: Iterable<TreeFile>): DecisionReport {
  const set = new DecisionSet([...documents].map(({ path, content }) => designDocument(path, content)));
  const references: Reference[] = [];
  const stale: string[] = [];
  for (const { path, content } of files) {
    if (isGenerated(content) && symbolLanguageOf(path) !== undefined) {
      if (content.toString('utf8') !== generateSymbols(path, set.decisions)) stale.push(path);
    } else for (const citation of citationsOf(content)) references.push(set.judge(path, citation));
  }
  const of = (standing: Reference['standing']): Reference[] => references.filter((one) => one.standing === standing);
  const { faults } = set;
  const found = { missing: of('missing'), superseded: of('superseded'), outdated: of('outdated') };
  return { set, faults, references, ...found, stale };
}

/** Of all files, those that hold documents. */
export const documentsIn = (files: readonly TreeFile[]): TreeFile[] => files.filter(({ path }) => isDesignPath(path));
