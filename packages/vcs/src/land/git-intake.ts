import { invariant, MoundError } from '../core/errors.ts';
import type { GitChange, GitLanding, KnownBlob } from '../core/git-landing.ts';
import type { RepoPath, Seq } from '../core/ids.ts';
import { any, type Author } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import { citedSymbolsOf } from '../decisions/index.ts';
import { pathOfBytes } from '../core/path.ts';
import { nowhere, type Body, type Place } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import { encodeBody, noBody, sameBody } from '../log/body.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Target } from '../log/version.ts';
import type { Counters } from '../store/counters.ts';
import type { BatchWriter } from './batch-writer.ts';
import { digestCommitBody } from './commit-body.ts';
import { IntakeBlobs, type IntakeBlob } from './intake-blobs.ts';
import type { Lander } from './lander.ts';
import { noExtras, type PreparedEdit, type PreparedIntent } from './prepared.ts';

/** A change with its body encoded; the place of what it is a delta on is known once that has landed. */
interface EncodedChange {
  readonly path: RepoPath;
  /** The other end of a move. */
  readonly movedFrom?: RepoPath;
  readonly movedTo?: RepoPath;
  readonly target: Target | undefined;
  readonly body: Body;
  readonly onto: IntakeBlob | undefined;
  readonly stored: IntakeBlob | undefined;
  readonly content: Buffer | undefined;
  readonly cites: readonly string[] | undefined;
}

interface EncodedLanding {
  readonly landing: GitLanding;
  readonly changes: readonly EncodedChange[];
  readonly bodyDigest: Buffer;
}

/** Landings in one transaction at most, and their stored bytes. */
const groupMax = { count: 256, bytes: 8 * 1024 * 1024 };
/** The same for commits that are to land together: longer under the writer mutex (about a second), and still bounded. */
const togetherMax = { count: 1024, bytes: 16 * 1024 * 1024 };

/**
 * Takes git commits in, in the order in which they are added, in groups of one
 * transaction each. What needs time (hashes, deltas) is done when a commit is
 * added, without a lock; parents, branches and the bases of deltas are looked
 * up by git id in the transaction, so that a commit may build on one of its own
 * group. A commit says what happened elsewhere, so rules on paths and freezes do not apply to it.
 */
export class LogIntake {
  private readonly reader: LogReader;
  private readonly lander: Lander;
  private readonly blobs: IntakeBlobs;
  private readonly max: typeof groupMax;
  private group: EncodedLanding[] = [];
  private bytes = 0;

  /** `together`: how many commits are to land at once, if there is room for them in one transaction. */
  constructor(reader: LogReader, lander: Lander, together = 0) {
    this.reader = reader;
    this.lander = lander;
    this.blobs = new IntakeBlobs(reader);
    this.max = together > 0 && together <= togetherMax.count ? togetherMax : groupMax;
  }

  /** What was stored of a blob, so that it need not be read again; undefined where that is not known (any more). */
  known(id: string): KnownBlob | undefined {
    return this.blobs.get(id);
  }

  /** Whether what was added should land before more is. */
  get isFull(): boolean {
    return this.group.length >= this.max.count || this.bytes >= this.max.bytes;
  }

  add(landing: GitLanding): void {
    const changes = withMoves(
      landing,
      landing.changes.map((change) => this.encode(landing.branch, change)),
    );
    // Known from the next commit on: a body builds on earlier entries only.
    for (const [at, { stored, content }] of changes.entries()) {
      const { id, mode } = landing.changes[at] ?? {};
      if (stored !== undefined && id !== undefined && mode !== 'gitlink') this.blobs.set(id, stored, content);
    }
    for (const { body } of changes) this.bytes += body.bytes.length;
    this.bytes += landing.raw.length;
    const bodyDigest = digestCommitBody(admittedOf(landing), changes, landing.raw);
    this.group.push({ landing, changes, bodyDigest });
  }

  /**
   * Lands what was added, all or nothing, flushed. Errors: `branch-moved` where a branch does not stand at `base` any
   * more or another import has brought one of the commits.
   */
  async land(): Promise<void> {
    const { group } = this;
    this.group = [];
    this.bytes = 0;
    if (group.length > 0) await this.lander.act((writer, counters) => this.write(writer, counters, group));
  }

  private encode(branch: string, { path: bytes, mode, id, oldId, content }: GitChange): EncodedChange {
    const path = pathOfBytes(bytes);
    if (mode === undefined || id === undefined || content === undefined) {
      return {
        path,
        target: undefined,
        body: noBody,
        onto: undefined,
        stored: undefined,
        content: undefined,
        cites: undefined,
      };
    }
    const known = this.blobs.owned(content) ?? (mode === 'gitlink' ? undefined : this.blobs.get(id));
    if (known !== undefined) return sameChange(path, mode, known, this.blobs.citesOf(known));
    invariant(Buffer.isBuffer(content), 'a blob that is not known comes with its bytes');
    const blob = blobIdOf(content);
    const target = { blob, mode };
    const holder = this.blobs.holder(blob);
    if (holder !== undefined) {
      holder.cites = citedSymbolsOf(content);
      this.blobs.set(id, holder);
      return sameChange(path, mode, holder, holder.cites);
    }
    const older = this.blobs.base(branch, path, oldId);
    const body = encodeBody(content, older && { place: nowhere, chain: older.of.chain, content: older.content });
    const cites = citedSymbolsOf(content);
    const stored: IntakeBlob = {
      blob,
      size: content.length,
      chain: body.chain,
      place: nowhere,
      content: undefined,
      cites,
    };
    return { path, target, body, onto: body.chain > 0 ? older?.of : undefined, stored, content, cites };
  }

  private write(writer: BatchWriter, counters: Counters, group: readonly EncodedLanding[]): void {
    for (const encoded of group) {
      const { landing } = encoded;
      if (this.seqOf(landing.gitId) !== undefined) {
        const message = `another import has brought commit ${landing.gitId} by now; import again`;
        throw new MoundError('branch-moved', message, { commit: landing.gitId });
      }
      const branchId = this.branchOf(writer, landing);
      const edits = encoded.changes.map((change) => this.editOf(change, counters));
      const { seq } = writer.land(branchId, this.intentOf(encoded, edits), edits, []);
      for (const [index, { stored }] of encoded.changes.entries()) {
        if (stored !== undefined) stored.place = { seq, index };
      }
    }
  }

  private seqOf(gitId: string): Seq | undefined {
    return this.reader.store.tables.seqByGit.getBinary(Buffer.from(gitId, 'hex'))?.readUIntBE(0, 6) as Seq | undefined;
  }

  private mustSeqOf(gitId: string): Seq {
    const seq = this.seqOf(gitId);
    if (seq === undefined) throw new MoundError('git-failed', `git did not list commit ${gitId}`, { id: gitId });
    return seq;
  }

  /** The landing's branch, which stands at its base. */
  private branchOf(writer: BatchWriter, { branch, base, time }: GitLanding): number {
    const commitSeq = base === undefined ? 0 : this.mustSeqOf(base);
    const known = this.reader.getBranchId(branch);
    if (known !== undefined) {
      if (writer.branch(known).commitSeq === commitSeq) return known;
      throw new MoundError('branch-moved', `branch '${branch}' has moved meanwhile; import again`, { branch });
    }
    const parentId = commitSeq === 0 ? 0 : this.reader.landing(commitSeq).branchId;
    const branchId = writer.addBranch({ name: branch, parentId, forkSeq: commitSeq, commitSeq });
    const authorId = writer.authorId(systemAuthor);
    writer.append({ kind: 'fork', time, branchId, authorId, name: branch, parentId, at: commitSeq });
    return branchId;
  }

  private editOf(change: EncodedChange, { rewrites }: Counters): PreparedEdit {
    const { path, target, body, onto, content, cites, movedFrom, movedTo } = change;
    const standing = onto === undefined ? body : { ...body, base: mustBeThere(onto.place) };
    // With the content at hand the writer can store it whole where the base was purged.
    const whole = rewrites > 0 ? content : undefined;
    const seen = cites === undefined ? {} : { cites };
    const moved = { ...(movedFrom && { movedFrom }), ...(movedTo && { movedTo }) };
    const common = { expect: any, content: whole, base: nowhere, cell: undefined };
    return { path, target, body: standing, ...common, ...seen, ...moved };
  }

  private intentOf({ landing, bodyDigest }: EncodedLanding, edits: readonly PreparedEdit[]): PreparedIntent {
    const { raw, gitId: id, time, parents, base } = landing;
    const extra = [...parents];
    const own = base === undefined ? -1 : extra.indexOf(base);
    if (own >= 0) extra.splice(own, 1);
    const git = { raw, id, time, extraParents: extra.map((parent) => this.mustSeqOf(parent)) };
    const extras = { ...noExtras, git };
    const admitted = admittedOf(landing);
    return {
      admitted,
      edits,
      bodyDigest,
      asked: undefined,
      merged: [],
      unmerged: undefined,
      extras,
      time,
      attempts: 0,
      hold: undefined,
    };
  }
}

/** Both ends of each move name the other one. */
function withMoves({ changes }: GitLanding, encoded: readonly EncodedChange[]): readonly EncodedChange[] {
  const targets = new Map<RepoPath, RepoPath>();
  const moved = encoded.map((change, at): EncodedChange => {
    const from = changes[at]?.movedFrom;
    if (from === undefined) return change;
    const movedFrom = pathOfBytes(from);
    targets.set(movedFrom, change.path);
    return { ...change, movedFrom };
  });
  if (targets.size === 0) return encoded;
  return moved.map((change) => {
    const movedTo = change.target === undefined ? targets.get(change.path) : undefined;
    return movedTo === undefined ? change : { ...change, movedTo };
  });
}

const systemAuthor: Author = { name: 'mound', kind: 'system' };

const sameChange = (path: RepoPath, mode: Mode, onto: IntakeBlob, cites: EncodedChange['cites']): EncodedChange => ({
  path,
  target: { blob: onto.blob, mode },
  body: sameBody(nowhere, onto.chain, onto.size),
  onto,
  stored: undefined,
  content: undefined,
  cites,
});

function mustBeThere(place: Place): Place {
  invariant(place.seq > 0, 'what a body builds on has landed before it');
  return place;
}

const admittedOf = ({ branch, author, message }: GitLanding): AdmittedIntent => ({
  branch,
  author,
  message,
  rationale: undefined,
  task: undefined,
  breakage: undefined,
  edits: [],
  records: [],
  reads: [],
  operationId: undefined,
  onStale: 'reject',
  onStaleRead: 'record',
  mergedSeq: 0,
  replaces: 0,
});
