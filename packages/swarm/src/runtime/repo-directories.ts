import { lstatSync, readFileSync, readlinkSync, type Stats } from 'node:fs';
import { chmod, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import type { Repo, Snapshot } from '@mound/vcs';
import type { Collected, CollectedChange, CommandWorkspaces } from '../model/command/workspaces.ts';
import { timesIn, type ArtefactShelf } from './artefact-shelf.ts';
import { textOf } from './repo-reads.ts';

/** Bytes that one command may have changed. */
const bytesMax = 64 * 1024 * 1024;
const changesMax = 10_000;

type Mode = 'file' | 'executable' | 'symlink';

interface Placed {
  readonly snapshot: Snapshot;
  /** As they were put there: what still has this stamp was not touched. */
  readonly stamps: ReadonlyMap<string, string>;
}

const stampOf = (stats: Stats): string => `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size} ${stats.ino} ${stats.mode}`;
const modeOf = (stats: Stats): Mode =>
  stats.isSymbolicLink() ? 'symlink' : stats.mode & 0o100 ? 'executable' : 'file';

/** A snapshot's files in plain directories, for commands; they are forgotten when they are left. */
export class RepoDirectories implements CommandWorkspaces {
  readonly #repo: Repo;
  readonly #shelf: ArtefactShelf | undefined;
  readonly #placed = new Map<string, Placed>();

  constructor(repo: Repo, shelf?: ArtefactShelf) {
    this.#repo = repo;
    this.#shelf = shelf;
  }

  async materialise(dir: string, base: number): Promise<void> {
    const snapshot = this.#repo.snapshot(base);
    const links: { readonly at: string; readonly to: Buffer }[] = [];
    const paths = snapshot.list().filter(({ path }) => !path.startsWith('//hex:'));
    for (const { path, mode } of paths) {
      const at = join(dir, path);
      if (mode === 'gitlink') {
        await mkdir(at, { recursive: true });
        continue;
      }
      await mkdir(dirname(at), { recursive: true });
      const content = snapshot.read(path) ?? Buffer.alloc(0);
      // Links last, so that no file is ever written through one.
      if (mode === 'symlink') links.push({ at, to: content });
      else await writeFile(at, content, { flag: 'wx' });
      if (mode === 'executable') await chmod(at, 0o755);
    }
    for (const { at, to } of links) await symlink(to, at);
    await this.#shelf?.fill(dir, new Map(paths.map(({ path, ...head }) => [path, head])));
    const stamps = paths
      .filter(({ mode }) => mode !== 'gitlink')
      .map(({ path }): [string, string] => [path, stampOf(lstatSync(join(dir, path)))]);
    this.#placed.set(dir, { snapshot, stamps: new Map(stamps) });
  }

  async collect(dir: string): Promise<Collected> {
    const placed = this.#placed.get(dir);
    if (placed === undefined) throw new Error(`${dir} was not materialised here`);
    const scan = new Scan(dir, placed, (path) => this.#shelf?.holds(path) === true);
    await scan.walk('', []);
    return scan.end();
  }

  async leave(dir: string, isGood: boolean): Promise<void> {
    const placed = this.#placed.get(dir);
    this.#placed.delete(dir);
    if (placed === undefined || !isGood || this.#shelf === undefined) return;
    const { snapshot, stamps } = placed;
    const untouched = [...stamps].flatMap(([path, stamp]) => {
      const [head, stats] = [snapshot.head(path), lstatSync(join(dir, path), { throwIfNoEntry: false })];
      return head === undefined || stats === undefined || stampOf(stats) !== stamp ? [] : [[path, head] as const];
    });
    await this.#shelf.take(dir, await timesIn(dir, new Map(untouched)));
  }
}

interface Rules {
  readonly below: string;
  readonly rules: Ignore;
}

/** One walk over a directory that a command has left. */
class Scan {
  readonly #dir: string;
  readonly #placed: Placed;
  readonly #isArtefact: (path: string) => boolean;
  readonly #changes: CollectedChange[] = [];
  readonly #skipped: string[] = [];
  readonly #seen = new Set<string>();
  #bytes = 0;

  constructor(dir: string, placed: Placed, isArtefact: (path: string) => boolean) {
    this.#dir = dir;
    this.#placed = placed;
    this.#isArtefact = isArtefact;
  }

  async walk(below: string, outer: readonly Rules[]): Promise<void> {
    const names = await readdir(join(this.#dir, below), { withFileTypes: true, encoding: 'buffer' });
    const rules = names.some(({ name }) => name.toString() === '.gitignore') ? [...outer, this.#rulesIn(below)] : outer;
    for (const entry of names) {
      const name = entry.name.toString('utf8');
      const path = below === '' ? name : `${below}/${name}`;
      if (/^\.(git|mound)$/i.test(name)) continue;
      if (!Buffer.from(name).equals(entry.name)) {
        this.#skipped.push(`${path}: its name is not UTF-8`);
        continue;
      }
      const isOurs = this.#isArtefact(path) && !this.#placed.stamps.has(path);
      if (isOurs && !(entry.isDirectory() && this.#holdsKnown(path))) continue;
      if (entry.isDirectory()) {
        if (!isIgnored(rules, `${path}/`) || this.#holdsKnown(path)) await this.walk(path, rules);
      } else if (!this.#placed.stamps.has(path) && isIgnored(rules, path)) continue;
      else if (entry.isFile() || entry.isSymbolicLink()) this.#file(path);
      else this.#skipped.push(`${path}: neither a file nor a link`);
    }
  }

  #rulesIn(below: string): Rules {
    const rules = ignore();
    try {
      // Not through a link.
      const at = join(this.#dir, below, '.gitignore');
      if (lstatSync(at).isFile()) rules.add(readFileSync(at, 'utf8'));
    } catch {
      // Gone again, or unreadable: no rules.
    }
    return { below, rules };
  }

  #holdsKnown(directory: string): boolean {
    return [...this.#placed.stamps.keys()].some((path) => path.startsWith(`${directory}/`));
  }

  #file(path: string): void {
    const { snapshot, stamps } = this.#placed;
    this.#seen.add(path);
    const at = join(this.#dir, path);
    const stats = lstatSync(at);
    if (stamps.get(path) === stampOf(stats)) return;
    const mode = modeOf(stats);
    if (mode !== 'symlink' && stats.size > bytesMax)
      throw new RangeError(`${path} has ${stats.size} bytes, too many for one commit`);
    const content = mode === 'symlink' ? readlinkSync(at, 'buffer') : readFileSync(at);
    const head = snapshot.head(path);
    const isEqual = head !== undefined && snapshot.read(path)?.equals(content) === true;
    if (isEqual && head.mode === mode) return;
    const expect = head?.version ?? ('absent' as const);
    if (isEqual && head.mode !== 'symlink' && mode !== 'symlink') return this.#add({ path, mode, expect }, 0);
    const text = textOf(content);
    const bytes =
      text === undefined ? { content: content.toString('base64'), encoding: 'base64' as const } : { content: text };
    const isMoved = mode !== (head?.mode ?? 'file');
    this.#add({ path, ...bytes, ...(isMoved && { mode }), expect }, content.length);
  }

  #add(change: CollectedChange, bytes: number): void {
    this.#bytes += bytes;
    this.#changes.push(change);
    if (this.#changes.length > changesMax)
      throw new RangeError(`it changed more than ${changesMax} files; ignore what is made by tools in .gitignore`);
    if (this.#bytes > bytesMax) throw new RangeError(`what it changed has more than ${bytesMax} bytes`);
  }

  end(): Collected {
    for (const path of this.#placed.stamps.keys()) {
      const head = this.#placed.snapshot.head(path);
      if (!this.#seen.has(path) && head !== undefined) this.#add({ path, content: null, expect: head.version }, 0);
    }
    return {
      changes: this.#changes.toSorted((left, right) => (left.path < right.path ? -1 : 1)),
      skipped: this.#skipped,
    };
  }
}

/** The innermost rules that say something count, as in git. */
function isIgnored(rules: readonly Rules[], path: string): boolean {
  for (const { below, rules: own } of rules.toReversed()) {
    const verdict = own.test(below === '' ? path : path.slice(below.length + 1));
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}
