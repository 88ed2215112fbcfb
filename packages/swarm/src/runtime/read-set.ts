import { unifiedDiff, type FileHead, type Read, type Repo, type Snapshot } from '@mound/vcs';

/** Bounds of what an agent is told before one request, so that a busy repository does not fill its context. */
const filesMax = 20;
const fileCharsMax = 4_000;
const charsMax = 12_000;

interface Seen {
  /** Of the content that stands in the agent's context. */
  readonly read: number;
  /** The newest that it was told of; never older. */
  readonly told: number;
}

/** The versions of files that one agent has in its context. */
export class ReadSet {
  readonly #repo: Repo;
  readonly #seen = new Map<string, Seen>();

  constructor(repo: Repo) {
    this.#repo = repo;
  }

  /** The agent was shown a file's content. */
  note(path: string, version: number): void {
    if (this.#seen.get(path)?.read !== version) this.#seen.set(path, { read: version, told: version });
  }

  /** The version of the content that the agent has read last; undefined where it has read none. */
  readVersion(path: string): number | undefined {
    return this.#seen.get(path)?.read;
  }

  /** For an intent: what its author had seen of the paths that it does not write. */
  reads(written: ReadonlySet<string>): Read[] {
    return [...this.#seen].flatMap(([path, { told }]) => (written.has(path) ? [] : [{ path, version: told }]));
  }

  /** Its own landing: it knows what it wrote. */
  wrote(paths: readonly string[], seq: number): void {
    const snapshot = this.#repo.snapshot(seq);
    for (const path of paths) {
      if (snapshot.head(path) === undefined) this.#seen.delete(path);
      else if (this.#seen.has(path)) this.#seen.set(path, { read: seq, told: seq });
    }
  }

  /**
   * What changed since the agent was last told, in words; from then on it counts
   * as told. undefined where nothing did.
   */
  delta(newest: Snapshot): string | undefined {
    const changed = [...this.#seen].filter(([path, { told }]) => (newest.head(path)?.version ?? 0) !== told);
    if (changed.length === 0) return undefined;
    const told: string[] = [];
    const short: string[] = [];
    let chars = 0;
    for (const [path, { told: since, read }] of changed) {
      const head = newest.head(path);
      this.#seen.set(path, { read, told: head?.version ?? 0 });
      const says = told.length < filesMax ? this.#saysOf(path, since, newest, head) : undefined;
      if (says === undefined || chars + says.length > charsMax) short.push(path);
      else {
        told.push(says);
        chars += says.length;
      }
    }
    const more = short.length === 0 ? '' : `\nChanged too, read them again: ${cut(short.join(', '), fileCharsMax)}`;
    return `Files that you have read have changed in the repository since. Work on from what they are now; an edit of yours that has not landed is merged when it lands.\n${told.join('\n')}${more}`;
  }

  #saysOf(path: string, since: number, newest: Snapshot, head: FileHead | undefined): string {
    const went = newest.whereabouts(path, since);
    if (went?.kind === 'split') return `${path} was split; its parts are in ${went.paths.join(', ')}.`;
    if (head === undefined) {
      return went?.kind === 'moved' ? `${path} was moved to ${went.path}.` : `${path} was deleted.`;
    }
    const { author, message } = this.#repo.commit(head.version);
    const by = `${path} is at version ${head.version} now, by ${author.name}: ${cut(message, 200)}`;
    const [before, after] = [since === 0 ? undefined : this.#repo.snapshot(since).read(path), newest.read(path)];
    if (before === undefined || after === undefined) return `${by}. Read it again.`;
    const { mode } = head;
    const text = unifiedDiff(path, { content: before, mode }, { content: after, mode }).toString('utf8');
    const hunks = text.slice(Math.max(0, text.indexOf('@@')));
    return hunks.length > fileCharsMax ? `${by}\n${cut(hunks, fileCharsMax)}\n(cut; read it again)` : `${by}\n${hunks}`;
  }
}

const cut = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);
