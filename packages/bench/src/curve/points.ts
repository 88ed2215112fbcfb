import { realpathSync } from 'node:fs';
import { join } from 'node:path';

import type { Repo } from '@mound/vcs';

import type { LineJournal, JournalForm } from '../harness/line-journal.ts';
import { pointStates, type CommitPlace, type CurvePoint, type CurveResult, type Scored } from './curve.ts';
import { scoreBareTree, scoreControlOf, wasAsked, type ScoreControl } from './bare-tree.ts';
import { scoreSnapshot } from './score-snapshot.ts';
import { totalOf, type Scorer } from './scorer.ts';

/** What the journal keeps of a point; `second`: of its second try. */
export type PointRow = Scored & { readonly seq: number; readonly second?: true };

export const pointJournalForm: JournalForm<PointRow> = {
  kind: 'curve-journal',
  version: 1,
  rowOf: (value) => {
    const row = value as Partial<PointRow> | null | undefined;
    const isRow = typeof row?.seq === 'number' && row.state !== undefined && pointStates.includes(row.state);
    return isRow ? (row as PointRow) : undefined;
  },
};

export interface PointOptions {
  readonly repo: Repo;
  readonly branch: string;
  /** Of the run, oldest first. */
  readonly places: readonly CommitPlace[];
  readonly build: string | undefined;
  readonly scorer: Scorer;
  readonly sandbox: CurveResult['sandbox'];
  readonly buildSeconds: number;
  readonly scoreSeconds: number;
  readonly dir: string | undefined;
  readonly journal: LineJournal<PointRow> | undefined;
  readonly signal: AbortSignal;
  readonly onPoint: ((point: CurvePoint) => void) | undefined;
}

/** In place of a seq: the control's. */
const bareSeq = -1;

const keyOf = (seq: number, second: boolean): string => `${seq}${second ? ' again' : ''}`;

/** Points of a curve, each scored when it is first asked for. */
export class Points {
  readonly places: readonly CommitPlace[];
  readonly #options: PointOptions;
  readonly #rows: Map<string, Scored>;
  readonly #told = new Set<number>();
  #total = 0;

  constructor(options: PointOptions) {
    this.places = options.places;
    this.#options = options;
    const kept = options.journal?.rows.map(({ seq, second, ...scored }): [string, Scored] => [
      keyOf(seq, second === true),
      scored,
    ]);
    // A control that was not asked shows nothing; journals from before it always was may hold one.
    this.#rows = new Map(kept?.filter(([key, scored]) => key !== keyOf(bareSeq, false) || wasAsked(scored)));
  }

  async score(place: CommitPlace): Promise<CurvePoint> {
    await this.#try(place.seq, false);
    const point = this.#pointOf(place, false);
    if (!this.#told.has(place.seq)) this.#options.onPoint?.(point);
    this.#told.add(place.seq);
    return point;
  }

  /** The same snapshot once more: whether it comes out the same. */
  async scoreAgain(place: CommitPlace): Promise<CurvePoint> {
    await this.#try(place.seq, true);
    return this.#pointOf(place, true);
  }

  /** What a tree gets in which nothing was built. */
  async scoreBare(): Promise<ScoreControl> {
    await this.#try(bareSeq, false);
    const scored = this.#rows.get(keyOf(bareSeq, false));
    if (scored === undefined) throw new Error('the control was not scored');
    return scoreControlOf(scored, this.all());
  }

  /** Counts the tests themselves, where no point tells how many there are. */
  async countTests(): Promise<void> {
    if (this.#knownTotal() === 0) this.#total = await totalOf(this.#options.scorer);
  }

  /** Those that are scored by now, in the order of the commits. */
  all(): CurvePoint[] {
    return this.places.filter(({ seq }) => this.#told.has(seq)).map((place) => this.#pointOf(place, false));
  }

  mustPlace(seq: number): CommitPlace {
    const place = this.places.find((one) => one.seq === seq);
    if (place === undefined) throw new Error(`seq ${seq} is no commit of the run`);
    return place;
  }

  async #try(seq: number, second: boolean): Promise<void> {
    const key = keyOf(seq, second);
    if (this.#rows.has(key)) return;
    const { repo, branch, scorer, journal, ...more } = this.#options;
    const bounds = {
      ...more,
      scorer: scorer.kind === 'engine' ? { ...scorer, corpus: realpathSync(scorer.corpus) } : scorer,
      hidden: [join(realpathSync(repo.dir), '.mound')],
    };
    const scored =
      seq === bareSeq
        ? await scoreBareTree(bounds)
        : await scoreSnapshot(seq === 0 ? undefined : repo.snapshot(seq, branch), bounds);
    journal?.add({ seq, ...scored, ...(second && { second }) });
    this.#rows.set(key, scored);
  }

  /** Where nothing was asked, the total is what it was elsewhere. */
  #pointOf(place: CommitPlace, second: boolean): CurvePoint {
    const scored = this.#rows.get(keyOf(place.seq, second));
    if (scored === undefined) throw new Error(`seq ${place.seq} was not scored`);
    const total = scored.total || this.#knownTotal();
    return { ...place, ...scored, total, score: total === 0 ? 0 : scored.passed / total };
  }

  #knownTotal(): number {
    return Math.max(this.#total, ...[...this.#rows.values()].map(({ total }) => total));
  }
}
