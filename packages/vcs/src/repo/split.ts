import { actorOf } from '../core/actor.ts';
import { MoundError } from '../core/errors.ts';
import type { RepoPath } from '../core/ids.ts';
import { absent, version, type Change, type Intent } from '../core/intent.ts';
import { limits } from '../core/limits.ts';
import type { Mode } from '../core/mode.ts';
import type { Outcome, Rejected } from '../core/outcome.ts';
import { admit } from '../intent/admit.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import { isRejected, reject } from '../intent/reject.ts';
import { digestAsked } from '../land/commit-body.ts';
import type { Lander } from '../land/lander.ts';
import { noExtras } from '../land/prepared.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Version } from '../log/version.ts';
import { isText, joinLines, provenanceOf, retarget, splitLines, type LineRun } from '../merge/index.ts';
import type { RedirectRange, SplitOptions, Unparked } from './api.ts';
import { mustParsePath, type Freezes } from './freezes.ts';

/** A file that is edited faster than it can be split is frozen for the split after so many tries. */
const triesMax = 3;
const freezeMs = 60_000;

/** What a split makes of one version of the file, by path; the old path stands for what remains. */
interface Draft {
  readonly files: ReadonlyMap<RepoPath, readonly string[]>;
  readonly runs: readonly LineRun[];
}

/** Splits of files into modules. */
export class Splits {
  private readonly reader: LogReader;
  private readonly lander: Lander;
  private readonly freezes: Freezes;

  constructor(reader: LogReader, lander: Lander, freezes: Freezes) {
    this.reader = reader;
    this.lander = lander;
    this.freezes = freezes;
  }

  async split(path: string, options: SplitOptions): Promise<{ outcome: Outcome; parked: readonly Unparked[] }> {
    const form = this.admitted(mustParsePath(path), options);
    if (isRejected(form)) return { outcome: form, parked: [] };
    const first = await this.lander.firstOutcome(form);
    const outcome = first ?? (await this.land(mustParsePath(path), options, form));
    this.reader.store.steps.reach('split-landed');
    const hasLanded = outcome.kind === 'landed' || outcome.kind === 'merged';
    return { outcome, parked: hasLanded ? await this.freezes.unparkAll() : [] };
  }

  /** The intent as it was asked for; what lands may take along what came since. */
  private admitted(path: RepoPath, options: SplitOptions): AdmittedIntent | Rejected {
    if (options.modules.length === 0) throw new MoundError('invalid-argument', `name modules to split ${path} into`);
    const { modules, remains, expect = 0 } = options;
    return admit(intentOf(path, options, modules.map(changeOf), remains, expect));
  }

  private async land(path: RepoPath, options: SplitOptions, form: AdmittedIntent): Promise<Outcome> {
    const { expect } = options;
    if (expect !== undefined && !this.reader.heads.hasSeen(expect)) {
      const message = `${path} is expected at version ${expect}, but the newest seq is ${this.reader.store.counters.lastSeq}`;
      return reject('no-such-version', message, 'read the path and use the version that the read gives', {
        paths: [path],
      });
    }
    const expected = this.versionOf(path, options, expect);
    for (let tries = 0; ; tries++) {
      this.reader.refresh();
      const head = this.versionOf(path, options, undefined);
      if (head?.target === undefined || expected?.target === undefined) {
        return reject('no-such-path', `${path} is not there to be split`, 'name a path that exists', { paths: [path] });
      }
      const draft = this.draft(path, options, expected, head);
      if (isRejected(draft)) return draft;
      this.reader.store.steps.reach('split-read');
      const outcome = await this.landDraft(path, options, form, head, draft);
      const isOvertaken =
        outcome.kind === 'rejected' && outcome.code === 'stale' && outcome.stale.some((detail) => detail.path === path);
      if (!isOvertaken || tries > triesMax) return outcome;
      if (tries === triesMax) await this.freeze(path, options);
    }
  }

  private async freeze(path: RepoPath, { author, branch }: SplitOptions): Promise<void> {
    const options = {
      author,
      reason: 'split',
      owner: actorOf(author),
      ms: freezeMs,
      ...(branch !== undefined && { branch }),
    };
    await this.freezes.freeze(path, options);
  }

  private versionOf(path: RepoPath, { branch = 'main' }: SplitOptions, seq: number | undefined): Version | undefined {
    const pathId = this.reader.getPathId(path);
    const head = pathId === undefined ? undefined : this.reader.heads.get(this.reader.branchNamed(branch).id, pathId);
    return seq === undefined ? head : head && this.reader.versionAsOf(head, seq);
  }

  /** The modules with what changed since `expected`, and where the lines of the newest version are in them. */
  private draft(path: RepoPath, options: SplitOptions, expected: Version, head: Version): Draft | Rejected {
    const base = this.linesOf(path, expected);
    const files = new Map<RepoPath, readonly string[]>(
      options.modules.map((module) => [module.path as RepoPath, linesIn(module.path, module.content)]),
    );
    if (options.remains !== null) files.set(path, linesIn(path, options.remains));
    const runs = options.ranges === undefined ? provenanceOf(base, files) : runsOf(options.ranges, base.length, files);
    const made = this.withNewer(path, { files, runs }, base, expected, head);
    if (isRejected(made)) return made;
    const isNothing =
      made.runs.every(({ to }) => to === path) || sameLines(made.files.get(path), this.linesOf(path, head));
    if (isNothing) throw new MoundError('invalid-argument', `no line of ${path} goes to a module`, { path });
    return made;
  }

  private withNewer(
    path: RepoPath,
    draft: Draft,
    base: readonly string[],
    expected: Version,
    head: Version,
  ): Draft | Rejected {
    if (expected.target?.blob === head.target?.blob) return draft;
    const incoming = this.linesOf(path, head);
    const { modules, unplaced } = retarget({ base, text: base, incoming, runs: draft.runs, modules: draft.files });
    if (unplaced !== undefined) {
      const message = `${path} changed after version ${expected.place.seq} where its lines went to no one module`;
      return reject('stale', message, 'read it again and split what is there', {
        paths: [path],
        stale: [{ path, expected: expected.place.seq, actual: head.place.seq }],
      });
    }
    const files = new Map([...draft.files, ...(modules as ReadonlyMap<RepoPath, readonly string[]>)]);
    return { files, runs: provenanceOf(incoming, files) };
  }

  private linesOf(path: RepoPath, { place, target }: Version): readonly string[] {
    const content = this.reader.content(place);
    if (target === undefined || !isText({ content, mode: target.mode })) {
      throw new MoundError('invalid-argument', `${path} is no text that could be split`, { path });
    }
    return splitLines(content);
  }

  private landDraft(
    path: RepoPath,
    options: SplitOptions,
    form: AdmittedIntent,
    head: Version,
    { files, runs }: Draft,
  ): Promise<Outcome> {
    const mode = head.target?.mode;
    const changes = options.modules.map((module) => ({
      ...changeOf({ ...module, content: joinLines(files.get(module.path as RepoPath) ?? []) }),
      mode: module.mode ?? (mode as Mode),
    }));
    const rest = files.get(path);
    const admitted = admit(
      intentOf(path, options, changes, rest === undefined ? null : joinLines(rest), head.place.seq),
    );
    if (isRejected(admitted)) return Promise.resolve(admitted);
    const asked = form.operationId === undefined ? undefined : digestAsked(form);
    return this.lander.land(admitted, { ...noExtras, split: { path, runs, asked } });
  }
}

const changeOf = ({ path, content, mode, expect = absent }: SplitOptions['modules'][number]): Change => ({
  kind: 'put',
  path,
  content,
  expect,
  ...(mode !== undefined && { mode }),
});

function intentOf(
  path: RepoPath,
  { author, message, rationale, task, branch, operationId }: SplitOptions,
  modules: readonly Change[],
  remains: string | Uint8Array | null,
  seq: number,
): Intent {
  const expect = version(seq);
  return {
    author,
    message: message ?? `Split ${path}`,
    ...(rationale !== undefined && { rationale }),
    ...(task !== undefined && { task }),
    ...(branch !== undefined && { branch }),
    ...(operationId !== undefined && { operationId }),
    changes: [
      ...modules,
      remains === null ? { kind: 'delete', path, expect } : { kind: 'put', path, content: remains, expect },
    ],
    onStale: 'reject',
  };
}

function linesIn(path: string, content: string | Uint8Array): readonly string[] {
  const bytes = Buffer.from(content as string);
  if (isText({ content: bytes, mode: 'file' })) return splitLines(bytes);
  throw new MoundError('invalid-argument', `the content of ${path} is no text`, { path });
}

const sameLines = (one: readonly string[] | undefined, other: readonly string[]): boolean =>
  one !== undefined && one.length === other.length && one.every((line, at) => line === other[at]);

/** Ranges as they were given, from 0; a line of a module comes from one place. Errors: `invalid-argument`. */
function runsOf(ranges: readonly RedirectRange[], lineCount: number, files: Draft['files']): LineRun[] {
  const wrong = (range: RedirectRange, what: string): MoundError =>
    new MoundError('invalid-argument', `the range from line ${range.start} to ${range.path} ${what}`, {
      path: range.path,
    });
  if (ranges.length > limits.splitRangesMax) {
    throw new MoundError(
      'invalid-argument',
      `${ranges.length} ranges are over the limit splitRangesMax of ${limits.splitRangesMax}`,
    );
  }
  const taken = new Map<string, Set<number>>();
  return ranges.map((range) => {
    const { start, count, path, toStart } = range;
    const lines = files.get(path as RepoPath);
    if (lines === undefined) throw wrong(range, 'names no module of the split');
    const isWhole = [start, count, toStart].every((value) => Number.isSafeInteger(value) && value >= 1);
    if (!isWhole || start + count - 1 > lineCount || toStart + count - 1 > lines.length)
      throw wrong(range, 'is not within both files');
    const seen = taken.get(path) ?? new Set<number>();
    taken.set(path, seen);
    for (let line = toStart; line < toStart + count; line++) {
      if (seen.has(line)) throw wrong(range, 'overlaps another in the module');
      seen.add(line);
    }
    return { start: start - 1, count, to: path, toStart: toStart - 1 };
  });
}
