import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

import type { CommitView, Repo } from '@mound/vcs';

import { textFilesBelow } from './corpus-files.ts';
import { cut, type CheckReport, type Finding } from './finding.ts';
import { textOf, whoOf } from './landed-file.ts';
import { NeedleSearch } from './needle-search.ts';
import { needlesOf, type Needle } from './needles.ts';

export interface LeakOptions {
  readonly repo: Repo;
  /** Directory of the corpus. */
  readonly corpus: string;
  /** That tell of the corpus without being in it. */
  readonly words: readonly string[];
  /** Files and directories beside the store: logs, a recorded environment. */
  readonly also: readonly string[];
}

const rule =
  'Long lines that stand once in the corpus, names of its files, its directory, and words that tell of it, looked for in all that the run left. Not seen: a corpus told in other words, packed or encoded; requests of minds that keep no transcript';

const whats: Readonly<Record<Needle['kind'], string>> = {
  line: 'line of the corpus',
  path: 'name of the corpus',
  word: 'word that tells of it',
};

interface Place {
  readonly kind: string;
  readonly place: string;
  readonly seq?: number;
  readonly who?: string;
}

/** Strings of a corpus that nobody of a run should have seen, wherever the run left something. */
export async function leakCheck({ repo, corpus, words, also }: LeakOptions): Promise<CheckReport> {
  const needles = needlesOf(corpus, textFilesBelow(corpus), words);
  const leaks = new Leaks(needles);
  const landings = everyLanding(repo);
  lookInLandings(repo, landings, leaks);
  lookInConflicts(repo, leaks);
  lookInRecords(repo, leaks);
  const besides = [join(repo.dir, '.mound', 'swarm'), ...also];
  for (const path of besides.filter((one) => existsSync(one))) await lookBeside(path, leaks);
  return {
    check: 'corpus',
    rule,
    looked: `${needles.length} strings (${needles.filter(({ kind }) => kind === 'line').length} lines) in ${leaks.told()}`,
    findings: leaks.findings,
  };
}

class Leaks {
  readonly findings: Finding[] = [];
  readonly #search: NeedleSearch;
  readonly #looked = new Map<string, number>();
  readonly #told = new Set<string>();

  constructor(needles: readonly Needle[]) {
    this.#search = new NeedleSearch(needles);
  }

  look(text: string, { kind, place, seq, who }: Place): void {
    this.#looked.set(kind, (this.#looked.get(kind) ?? 0) + 1);
    const found = this.#search.find(text);
    for (const { needle, around } of found) {
      // A path has the file's name in it.
      if (found.some((other) => other.needle !== needle && other.needle.text.endsWith(`/${needle.text}`))) continue;
      // What stays in a file is told where it came in.
      const key = `${kind} ${place} ${needle.text}`;
      if (this.#told.has(key)) continue;
      this.#told.add(key);
      const from = needle.from === '.' ? '' : ` (${needle.from})`;
      const evidence = cut(`${around}${from}`);
      this.findings.push({
        weight: 'finding',
        what: whats[needle.kind],
        place: `${kind} ${place}`,
        evidence,
        seq,
        who,
      });
    }
  }

  told(): string {
    return [...this.#looked].map(([kind, count]) => `${count} × ${kind}`).join(', ');
  }
}

/** Of every branch, each once, oldest first. */
function everyLanding(repo: Repo): CommitView[] {
  const bySeq = new Map(
    repo.branches().flatMap(({ name }) => [...repo.log({ branch: name })].map((landing) => [landing.seq, landing])),
  );
  return [...bySeq.values()].toSorted((a, b) => a.seq - b.seq);
}

function lookInLandings(repo: Repo, landings: readonly CommitView[], leaks: Leaks): void {
  const seen = new Set<string>();
  const paths = new Set<string>();
  for (const { seq, branch, author, coAuthors, task, message, rationale, breakage, changes } of landings) {
    const by = { seq, who: whoOf(author, task) };
    const words = [message, rationale, breakage, task, ...[author, ...coAuthors].map(({ name }) => name)];
    leaks.look(words.filter((part) => part !== undefined).join('\n'), {
      kind: 'message',
      place: `of seq ${seq}`,
      ...by,
    });
    const snapshot = repo.snapshot(seq, branch);
    for (const { path, blob } of changes) {
      if (!paths.has(path)) leaks.look(path, { kind: 'path', place: path, ...by });
      paths.add(path);
      if (blob === undefined || seen.has(blob)) continue;
      seen.add(blob);
      leaks.look(textOf(snapshot.read(path)) ?? '', { kind: 'file', place: path, ...by });
    }
  }
}

function lookInConflicts(repo: Repo, leaks: Leaks): void {
  for (const { id, author, task, message, rationale = '', paths } of repo.conflicts()) {
    const who = whoOf(author, task);
    leaks.look(`${message}\n${rationale}`, { kind: 'conflict', place: id, who });
    for (const { path, incoming } of paths)
      leaks.look(textOf(incoming.content) ?? '', { kind: 'conflict', place: `${id} ${path}`, who });
  }
}

/** Every value that a record ever had, and what it names. */
function lookInRecords(repo: Repo, leaks: Leaks): void {
  const objects = new Set<string>();
  for (const event of repo.events()) {
    if (event.kind !== 'record.written' || event.deleted) continue;
    const record = repo.snapshot(event.seq).record(event.key);
    if (record === undefined) continue;
    leaks.look(`${event.key}\n${textOf(record.value) ?? ''}`, { kind: 'record', place: event.key, seq: event.seq });
    for (const blob of record.objects) {
      if (objects.has(blob)) continue;
      objects.add(blob);
      leaks.look(textOf(repo.readObject(blob)) ?? '', { kind: 'object', place: `of ${event.key}`, seq: event.seq });
    }
  }
}

async function lookBeside(path: string, leaks: Leaks): Promise<void> {
  const isFile = (await stat(path)).isFile();
  const files = isFile ? [['', await readFile(path, 'utf8')] as const] : textFilesBelow(path);
  for (const [name, text] of files) leaks.look(text, { kind: 'beside', place: name === '' ? path : join(path, name) });
}
