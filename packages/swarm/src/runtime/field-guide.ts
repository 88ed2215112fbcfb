import { absent, isDocumentFault, ruleRecord, version, type Author, type Change, type Outcome, type Precondition, type RecordWrite, type Repo, type Rule, type Snapshot } from '@mound/vcs'; // prettier-ignore
import type { Time } from '../core/time.ts';
import { estimateTokens } from '../core/usage.ts';
import { annotated, slugOfLine, slugsOf, withNote, withoutNotes } from '../knowledge/guide-index.ts';
import { isOutdated, parseEvidence, parseNote, renderNote, slugOf, type Evidence, type Note } from '../knowledge/note.ts'; // prettier-ignore
import { addUse, agedOut, leastUsed, noUse, useOf, type GuideUse } from '../knowledge/uses.ts';
import { refused, type NoteRequest, type Refusal } from '../tools/operations.ts';
import type { GuidePolicy } from './run-options.ts';

/** The record of what the guide was of use for; across runs. */
export const guideUseKey = 'field-guide/uses';
/** Names of the landing rules that keep it. */
const ruleNames = { lines: 'field-guide/lines', links: 'field-guide/links' };
/** Others who write at the same moment. */
const triesMax = 20;
/** Uses that are kept back until they are written. */
const pendingMax = 64;
/** Entries that a refusal names. */
const namedMax = 5;

interface Writer {
  readonly author: Author;
  /** Of the snapshot that its author reads: what evidence without a version means. */
  readonly base: number;
  readonly operationId: string;
}

/** The folder that the agents own: read by all at their start, written by any of them. */
export class FieldGuide {
  readonly #repo: Repo;
  readonly #time: Time;
  readonly #policy: GuidePolicy;
  #pending: GuideUse = noUse;
  #pendingCount = 0;

  constructor(repo: Repo, time: Time, policy: GuidePolicy) {
    this.#repo = repo;
    this.#time = time;
    this.#policy = policy;
  }

  get #indexPath(): string {
    return `${this.#policy.folder}/index.md`;
  }

  #pathOf(slug: string): string {
    return `${this.#policy.folder}/${slug}.md`;
  }

  isIn(path: string): boolean {
    return path.startsWith(`${this.#policy.folder}/`);
  }

  /** The index as an agent that starts is told of it, which counts as shown; empty where there is none. */
  shown(): string {
    const snapshot = this.#repo.snapshot();
    const index = snapshot.readText(this.#indexPath) ?? '';
    if (index === '') return '';
    const text = annotated(index, this.#changed(snapshot, slugsOf(index)));
    const notes = Object.fromEntries(
      text.split('\n').flatMap((line) => {
        const slug = slugOfLine(line);
        return slug === undefined ? [] : [[slug, { uses: 0, tokens: tokensOf(line), usedAt: 0 }]];
      }),
    );
    this.#count({ shown: 1, tokens: tokensOf(text), notes });
    return text;
  }

  /** An agent has read a file of it. */
  read(path: string, text: string): void {
    const slug = path.slice(this.#policy.folder.length + 1).replace(/\.md$/, '');
    if (slug === 'index') return;
    const tokens = tokensOf(text);
    this.#count({ shown: 0, tokens, notes: { [slug]: { uses: 1, tokens, usedAt: this.#time.now() } } });
  }

  /** Lands an entry with its line in the index, and takes others out; the store refuses what is over the line budget. */
  async note(request: NoteRequest, writer: Writer): Promise<Outcome | Refusal> {
    const evidence = this.#evidence(request.evidence, writer.base);
    if ('kind' in evidence) return evidence;
    for (let tries = 1; ; tries++) {
      const snapshot = this.#repo.snapshot();
      const index = snapshot.readText(this.#indexPath) ?? '';
      const strange = request.remove.find((slug) => snapshot.head(this.#pathOf(slug)) === undefined);
      if (strange !== undefined) return refused(`nothing was noted: there is no entry ${strange} to take out.`);
      const note = { ...request, slug: this.#slug(snapshot, request.symptom), evidence, by: writer.author.name };
      const pruned = withoutNotes(index, request.remove);
      const removals = request.remove.filter((slug) => slug !== note.slug);
      const changes: Change[] = [
        put(snapshot, this.#indexPath, withNote(pruned, note)),
        put(snapshot, this.#pathOf(note.slug), renderNote(note)),
        ...removals.map((slug) => gone(snapshot, this.#pathOf(slug))),
      ];
      const used = { ...noUse, notes: { [note.slug]: { uses: 0, tokens: 0, usedAt: this.#time.now() } } };
      const kept = useOf(addUse(this.#use(snapshot), used), slugsOf(withNote(pruned, note)));
      const outcome = await this.#repo.land({
        author: writer.author,
        message: `note: ${note.symptom}`,
        operationId: writer.operationId,
        // Two lines at the same place would be a conflict; here their order means nothing.
        onStale: 'reject',
        changes,
        records: [...this.#rules(snapshot), useRecord(snapshot, kept)],
      });
      if (outcome.kind !== 'rejected') return outcome;
      if (outcome.rule !== undefined) return this.#refusal(snapshot, outcome.message);
      if (!['stale', 'record-stale'].includes(outcome.code) || tries >= triesMax) return outcome;
    }
  }

  /** Takes entries out that nobody has read for long; their texts stay in the history. Gives their slugs. */
  async ageOut(author: Author): Promise<readonly string[]> {
    const { unusedMs } = this.#policy;
    for (let tries = 1; ; tries++) {
      const snapshot = this.#repo.snapshot();
      const index = snapshot.readText(this.#indexPath) ?? '';
      const use = this.#use(snapshot);
      const old = agedOut(use, slugsOf(index), this.#time.now() - unusedMs);
      const there = old.filter((slug) => snapshot.head(this.#pathOf(slug)) !== undefined);
      if (old.length === 0) return [];
      const outcome = await this.#repo.land({
        author,
        message: `Take ${old.length} entries out of the Field Guide that nobody has read`,
        onStale: 'reject',
        changes: [
          put(snapshot, this.#indexPath, withoutNotes(index, old)),
          ...there.map((slug) => gone(snapshot, this.#pathOf(slug))),
        ],
        records: [useRecord(snapshot, useOf(use, slugsOf(withoutNotes(index, old))))],
      });
      if (outcome.kind === 'landed' || tries >= triesMax) return outcome.kind === 'landed' ? old : [];
    }
  }

  /** Writes what was counted and not written yet. */
  async flush(author: Author): Promise<void> {
    const pending = this.#pending;
    this.#pending = noUse;
    this.#pendingCount = 0;
    if (pending.shown + pending.tokens === 0) return;
    for (let tries = 1; tries <= triesMax; tries++) {
      const snapshot = this.#repo.snapshot();
      const slugs = slugsOf(snapshot.readText(this.#indexPath) ?? '');
      const records = [useRecord(snapshot, useOf(addUse(this.#use(snapshot), pending), slugs))];
      const outcome = await this.#repo.land({ author, message: 'what the Field Guide was of use for', records });
      if (outcome.kind === 'landed') return;
    }
  }

  /** Whether so much was counted that it should be written. */
  get isDue(): boolean {
    return this.#pendingCount >= pendingMax;
  }

  #count(use: GuideUse): void {
    this.#pending = addUse(this.#pending, use);
    this.#pendingCount += 1;
  }

  #use(snapshot: Snapshot): GuideUse {
    return readUse(snapshot);
  }

  /** Entries that rest on what has changed since, with the path. */
  #changed(snapshot: Snapshot, slugs: readonly string[]): Map<string, string> {
    const changed = new Map<string, string>();
    for (const slug of slugs) {
      const path = this.#pathOf(slug);
      const text = snapshot.readText(path);
      const note = text === undefined ? undefined : parseNote(path, text);
      if (note === undefined || isDocumentFault(note)) continue;
      const found = note.evidence.find((one) => this.#isOutdated(snapshot, one));
      if (found !== undefined) changed.set(slug, found.path);
    }
    return changed;
  }

  #isOutdated(snapshot: Snapshot, evidence: Evidence): boolean {
    const { path } = evidence;
    if (evidence.version > snapshot.seq) return true;
    const then = this.#repo.snapshot(evidence.version);
    if (then.head(path)?.blob === snapshot.head(path)?.blob) return false;
    return isOutdated(evidence, then.readText(path), snapshot.readText(path));
  }

  #evidence(given: readonly string[], base: number): Evidence[] | Refusal {
    const found: Evidence[] = [];
    for (const one of given) {
      const parsed = parseEvidence(one);
      if (parsed === undefined)
        return refused(`nothing was noted: '${one}' is not PATH, PATH@VERSION or PATH@VERSION#NAME.`);
      const { path, version: named } = parsed;
      const { seq } = this.#repo.snapshot();
      const head = named !== undefined && named > seq ? undefined : this.#repo.snapshot(named ?? base).head(path);
      if (head === undefined) return refused(`nothing was noted: there is no ${one}. Name a file that you have read.`);
      found.push({ ...parsed, version: head.version });
    }
    return found;
  }

  /** Of a new entry, or of the one that says the same. */
  #slug(snapshot: Snapshot, symptom: string): string {
    const plain = slugOf(symptom);
    for (let count = 1; ; count++) {
      const slug = count === 1 ? plain : `${plain}-${count}`;
      const path = this.#pathOf(slug);
      const text = slug === 'index' ? '' : snapshot.readText(path);
      if (text === undefined) return slug;
      const known: Note | object = parseNote(path, text);
      if ('symptom' in known && known.symptom === symptom.replaceAll(/\s+/g, ' ').trim()) return slug;
    }
  }

  /** The landing rules that the guide needs, where they are not in force. */
  #rules(snapshot: Snapshot): RecordWrite[] {
    const { folder, linesMax } = this.#policy;
    const wanted: [string, Rule][] = [
      [ruleNames.lines, { kind: 'line-budget', paths: [folder], linesMax }],
      [ruleNames.links, { kind: 'links', paths: [folder] }],
    ];
    const known = new Map(this.#repo.rules().map(({ name, rule }) => [name, JSON.stringify(rule)]));
    return wanted.flatMap(([name, rule]) => {
      if (known.get(name) === JSON.stringify(rule)) return [];
      const { key } = ruleRecord(name, null, absent);
      const head = snapshot.record(key);
      return [ruleRecord(name, rule, head === undefined ? absent : version(head.version))];
    });
  }

  #refusal(snapshot: Snapshot, message: string): Refusal {
    const slugs = slugsOf(snapshot.readText(this.#indexPath) ?? '');
    const changed = [...this.#changed(snapshot, slugs).keys()];
    const named = [...new Set([...changed, ...leastUsed(this.#use(snapshot), slugs)])].slice(0, namedMax);
    return refused(
      `nothing was noted: ${message}. Who adds takes out: call note again and name in remove what helps nobody. Doubtful or read least: ${named.join(', ')}.`,
    );
  }
}

/** The same where the run may have no guide. */
export async function noteInGuide(
  { guide }: { readonly guide: FieldGuide | undefined },
  request: NoteRequest,
  writer: Writer,
): Promise<Outcome | Refusal> {
  return guide?.note(request, writer) ?? refused('this run has no Field Guide. Say it in your findings.');
}

const tokensOf = (text: string): number => estimateTokens(Buffer.byteLength(text));

const expectOf = (snapshot: Snapshot, path: string): Precondition => {
  const head = snapshot.head(path);
  return head === undefined ? absent : version(head.version);
};
const put = (snapshot: Snapshot, path: string, content: string): Change => ({ kind: 'put', path, content, expect: expectOf(snapshot, path) }); // prettier-ignore
const gone = (snapshot: Snapshot, path: string): Change => ({ kind: 'delete', path, expect: expectOf(snapshot, path) });

function useRecord(snapshot: Snapshot, use: GuideUse): RecordWrite {
  const head = snapshot.record(guideUseKey);
  const expect = head === undefined ? absent : version(head.version);
  return { key: guideUseKey, expect, value: JSON.stringify({ format: 1, ...use }) };
}

/** What the guide was of use for, and what it has cost. */
export function readUse(snapshot: Snapshot): GuideUse {
  const value = snapshot.record(guideUseKey)?.value;
  if (value === undefined) return noUse;
  const { shown, tokens, notes } = JSON.parse(value.toString('utf8')) as GuideUse;
  return { shown, tokens, notes };
}
