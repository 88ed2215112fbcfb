import type { MergeVerdict } from '../../subjects/merges/merge-subject.ts';
import type { MergeTriple } from '../../workloads/merge-triples.ts';

/** How two subjects answered the same triple. */
export type Relation = 'agreed' | 'clean-here-only' | 'clean-there-only' | 'clean-but-different' | 'refused';

export function relationOf(here: MergeVerdict, there: MergeVerdict): Relation {
  if (here.kind === 'refused' || there.kind === 'refused') return 'refused';
  if (here.kind !== there.kind) return here.kind === 'clean' ? 'clean-here-only' : 'clean-there-only';
  if (here.kind === 'conflict' || there.kind === 'conflict') return 'agreed';
  return isSame(here.content, there.content) ? 'agreed' : 'clean-but-different';
}

export const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;

/** What became of a driver's merges beside those of Mound's line merge. */
export interface DriverCounts {
  conflictsAvoided: number;
  avoidedAsCommitted: number;
  conflictsAdded: number;
  addedWherePeopleChanged: number;
  wrongMergesIntroduced: number;
}

/** Everything counted of one subject. */
export interface SubjectCounts {
  readonly verdicts: Record<MergeVerdict['kind'], number>;
  changedByPeople: number;
  /** By the other subject's name. */
  readonly relations: Map<string, Record<Relation, number>>;
  cleanAgainstAll: number;
  readonly besideText: DriverCounts;
}

export interface Disagreement {
  readonly triple: MergeTriple;
  readonly subject: string;
  readonly peer: string;
  readonly relation: Relation;
}

/** These two together are what a clean merge is held against. */
const judges = ['git-merge-file', 'gnu-diff3'] as const;
const textName = 'mound';

const noRelations = (): Record<Relation, number> => ({
  agreed: 0,
  'clean-here-only': 0,
  'clean-there-only': 0,
  'clean-but-different': 0,
  refused: 0,
});

/** Counts what the subjects made of the same triples. */
export class Comparison {
  readonly counts: ReadonlyMap<string, SubjectCounts>;
  readonly #onDisagreement: (disagreement: Disagreement) => void;
  readonly #mounds: readonly string[];

  /** `mounds` are the subjects that are laid beside all others. */
  constructor(names: readonly string[], mounds: readonly string[], onDisagreement: (found: Disagreement) => void) {
    this.#mounds = mounds;
    this.#onDisagreement = onDisagreement;
    this.counts = new Map(names.map((name) => [name, emptyCounts()]));
  }

  add(triple: MergeTriple, verdicts: ReadonlyMap<string, MergeVerdict>): void {
    for (const [name, verdict] of verdicts) {
      const counts = this.counts.get(name);
      if (counts === undefined) continue;
      counts.verdicts[verdict.kind]++;
      if (verdict.kind === 'clean' && isWrong(triple, verdict)) counts.changedByPeople++;
    }
    for (const name of this.#mounds) {
      const verdict = verdicts.get(name);
      const counts = this.counts.get(name);
      if (verdict !== undefined && counts !== undefined) this.#addMound(triple, name, verdict, counts, verdicts);
    }
  }

  #addMound(
    triple: MergeTriple,
    subject: string,
    verdict: MergeVerdict,
    counts: SubjectCounts,
    verdicts: ReadonlyMap<string, MergeVerdict>,
  ): void {
    for (const [peer, other] of verdicts) {
      if (peer === subject) continue;
      const relation = relationOf(verdict, other);
      const relations = counts.relations.get(peer) ?? noRelations();
      counts.relations.set(peer, relations);
      relations[relation]++;
      if (relation !== 'agreed' && relation !== 'refused') {
        this.#onDisagreement({ triple, subject, peer, relation });
      }
    }
    const isAgainstAll = judges.every((judge) => verdicts.get(judge)?.kind === 'conflict');
    if (verdict.kind === 'clean' && isAgainstAll) counts.cleanAgainstAll++;
    const text = verdicts.get(textName);
    if (subject !== textName && text !== undefined) addBeside(counts.besideText, triple, verdict, text);
  }
}

const emptyCounts = (): SubjectCounts => ({
  verdicts: { clean: 0, conflict: 0, refused: 0 },
  changedByPeople: 0,
  relations: new Map(),
  cleanAgainstAll: 0,
  besideText: {
    conflictsAvoided: 0,
    avoidedAsCommitted: 0,
    conflictsAdded: 0,
    addedWherePeopleChanged: 0,
    wrongMergesIntroduced: 0,
  },
});

/** People committed something else; false where nobody committed anything. */
const isWrong = ({ committed }: MergeTriple, verdict: MergeVerdict): boolean =>
  committed !== undefined && verdict.kind === 'clean' && (committed === null || !isSame(committed, verdict.content));

function addBeside(counts: DriverCounts, triple: MergeTriple, verdict: MergeVerdict, text: MergeVerdict): void {
  const isKnown = triple.committed !== undefined;
  if (verdict.kind === 'clean' && text.kind === 'conflict') {
    counts.conflictsAvoided++;
    if (isKnown && !isWrong(triple, verdict)) counts.avoidedAsCommitted++;
  }
  if (verdict.kind === 'conflict' && text.kind === 'clean') {
    counts.conflictsAdded++;
    if (isWrong(triple, text)) counts.addedWherePeopleChanged++;
  }
  if (isWrong(triple, verdict) && !isWrong(triple, text)) counts.wrongMergesIntroduced++;
}
