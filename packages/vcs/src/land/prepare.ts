import type { BlobId } from '../core/ids.ts';
import type { Precondition } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import type { Rejected } from '../core/outcome.ts';
import { nowhere, type Place } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import type { AdmittedIntent, Edit } from '../intent/edit.ts';
import { isRejected, reject } from '../intent/reject.ts';
import { encodeBody, noBody, sameBody, type BodyBase } from '../log/body.ts';
import type { LogReader } from '../log/log-reader.ts';
import { linkAfter } from '../log/places.ts';
import { digestCommitBody } from './commit-body.ts';
import type { LandingExtras, PreparedEdit, PreparedIntent } from './prepared.ts';

/** Ids of contents that were hashed elsewhere (in the pool). */
export type KnownIds = ReadonlyMap<Buffer, BlobId>;

const none: KnownIds = new Map();

interface Base {
  /** Live version that the precondition names. */
  readonly place: Place;
  /** Version to write the delta against. */
  readonly delta: Place;
}

class Preparation {
  private readonly reader: LogReader;
  private readonly branchId: number;
  private readonly lastSeq: number;
  private readonly known: KnownIds;

  constructor(reader: LogReader, branchId: number, lastSeq: number, known: KnownIds) {
    this.reader = reader;
    this.branchId = branchId;
    this.lastSeq = lastSeq;
    this.known = known;
  }

  private base(path: Edit['path'], expect: Precondition): Base | Rejected {
    if (expect.kind === 'version' && expect.seq > this.lastSeq) {
      const message = `${path} is expected at version ${expect.seq}, but the newest seq is ${this.lastSeq}`;
      return reject('no-such-version', message, 'read the path and use the version that the read gives', {
        paths: [path],
      });
    }
    const pathId = this.reader.getPathId(path);
    const head = pathId === undefined ? undefined : this.reader.head(this.branchId, pathId);
    if (head === undefined) return { place: nowhere, delta: nowhere };
    const live = head.mode === undefined ? nowhere : head.place;
    if (expect.kind === 'any') return { place: live, delta: live };
    if (expect.kind === 'absent') return { place: nowhere, delta: live };
    const seen = this.reader.headAsOf(head, expect.seq);
    const place = seen?.mode === undefined ? nowhere : seen.place;
    return { place, delta: place.seq === 0 ? live : place };
  }

  private deltaBase(place: Place): BodyBase | undefined {
    if (place.seq === 0) return undefined;
    return { place, chain: this.reader.version(place).chain, content: this.reader.content(place) };
  }

  edit(edit: Edit): PreparedEdit | Rejected {
    const base = this.base(edit.path, edit.expect);
    if (isRejected(base)) return base;
    const common = {
      path: edit.path,
      expect: edit.expect,
      base: base.place,
      linkAfterBase: base.place.seq === 0 ? undefined : linkAfter(base.place, this.reader.linkOfChange),
    };
    if (edit.kind === 'delete') {
      const moved = edit.movedTo === undefined ? {} : { movedTo: edit.movedTo, isDerived: true as const };
      return { ...common, target: undefined, content: undefined, body: noBody, ...moved };
    }
    if (edit.kind === 'chmod') {
      if (base.place.seq === 0) return absentPath(edit.path, 'has no mode to change');
      const content = this.reader.content(base.place);
      return { ...common, isDerived: true, ...this.written(content, edit.mode, base.place) };
    }
    if (edit.content === undefined) return absentPath(edit.path, 'has no content');
    if (edit.expect.kind === 'version' && edit.expect.seq > 0 && base.place.seq === 0) {
      return absentPath(edit.path, `did not exist at version ${edit.expect.seq}; expect absent to create it`);
    }
    const modeOfBase = base.delta.seq === 0 ? undefined : this.reader.version(base.delta).mode;
    return { ...common, ...this.written(edit.content, edit.mode ?? modeOfBase ?? 'file', base.delta) };
  }

  /** The put side of a move: its content and mode come from the source's base. */
  moved(edit: Edit & { kind: 'put' }, source: PreparedEdit): PreparedEdit | Rejected {
    if (source.base.seq === 0) return absentPath(source.path, 'cannot be moved: it is absent there');
    const base = this.base(edit.path, edit.expect);
    if (isRejected(base)) return base;
    const content = edit.content ?? this.reader.content(source.base);
    const mode = this.reader.version(source.base).mode ?? 'file';
    return {
      path: edit.path,
      expect: edit.expect,
      base: base.place,
      linkAfterBase: undefined,
      movedFrom: source.path,
      ...this.written(content, mode, source.base),
    };
  }

  private written(content: Buffer, mode: Mode, deltaPlace: Place): Pick<PreparedEdit, 'target' | 'content' | 'body'> {
    const blob = this.known.get(content) ?? blobIdOf(content);
    this.reader.rememberContent(blob, content);
    const known = this.reader.placeOf(blob);
    const body = known
      ? sameBody(known, this.reader.version(known).chain, content.length)
      : encodeBody(content, this.deltaBase(deltaPlace));
    return { target: { blob, mode }, content, body };
  }
}

function absentPath(path: string, what: string): Rejected {
  return reject('no-such-path', `${path} ${what}`, 'list the directory and name a path that exists', { paths: [path] });
}

/** Hashes and encodes an admitted intent against the newest committed state; no lock is held. */
export function prepare(
  reader: LogReader,
  admitted: AdmittedIntent,
  extras: LandingExtras,
  time: number,
  known: KnownIds = none,
  asked?: Buffer,
): PreparedIntent | Rejected {
  const branchId = reader.getBranchId(admitted.branch);
  if (branchId === undefined) {
    return reject('no-such-branch', `there is no branch '${admitted.branch}'`, "fork it first with 'mound branch'");
  }
  const { lastSeq } = reader.store.counters;
  const early = admitted.records.find(({ expect }) => expect.kind === 'version' && expect.seq > lastSeq);
  if (early) {
    const message = `record ${early.key} is expected at a version after the newest seq, ${lastSeq}`;
    return reject('no-such-version', message, 'read the record and use the version that the read gives', {
      paths: [early.key],
    });
  }
  const preparation = new Preparation(reader, branchId, lastSeq, known);
  const edits: PreparedEdit[] = [];
  for (const edit of admitted.edits) {
    // A move's source comes right before its destination.
    const source = edit.kind === 'put' && edit.movedFrom !== undefined ? edits.at(-1) : undefined;
    const prepared = source && edit.kind === 'put' ? preparation.moved(edit, source) : preparation.edit(edit);
    if (isRejected(prepared)) return prepared;
    edits.push(prepared);
  }
  const bodyDigest = digestEdits(admitted, edits, extras);
  return { admitted, edits, bodyDigest, asked, merged: [], extras, time, attempts: 0 };
}

export function digestEdits(admitted: AdmittedIntent, edits: readonly PreparedEdit[], { git }: LandingExtras): Buffer {
  return digestCommitBody({
    author: admitted.author,
    message: admitted.message,
    rationale: admitted.rationale,
    task: admitted.task,
    breakage: admitted.breakage,
    gitRaw: git?.raw,
    changes: edits.map(({ path, target }) => ({ path, mode: target?.mode, blob: target?.blob })),
  });
}
