import { isMoundError } from '../core/errors.ts';
import type { BlobId } from '../core/ids.ts';
import type { Precondition } from '../core/intent.ts';
import type { Mode } from '../core/mode.ts';
import { countLines } from '../core/text.ts';
import type { Rejected } from '../core/outcome.ts';
import { citedSymbolsOf } from '../decisions/index.ts';
import { nowhere, type Body } from '../format/entry.ts';
import { blobIdOf } from '../format/hash.ts';
import type { AdmittedIntent, Edit } from '../intent/edit.ts';
import { isRejected, reject } from '../intent/reject.ts';
import { encodeBody, noBody, sameBody } from '../log/body.ts';
import type { HeadCell } from '../log/heads.ts';
import type { LogReader } from '../log/log-reader.ts';
import { isNotice } from '../log/purged.ts';
import { linkAfterVersion, type Version } from '../log/version.ts';
import { megafileBytesMin } from '../rules/signals.ts';
import { digestCommitBody } from './commit-body.ts';
import type { LandingExtras, PreparedEdit, PreparedIntent } from './prepared.ts';

interface Base {
  readonly cell: HeadCell | undefined;
  /** Live version that the precondition names. */
  readonly version: Version | undefined;
  /** Version to write the delta against. */
  readonly delta: Version | undefined;
}

const noBase: Base = { cell: undefined, version: undefined, delta: undefined };

class Preparation {
  private readonly reader: LogReader;
  private readonly branchId: number;

  constructor(reader: LogReader, branchId: number) {
    this.reader = reader;
    this.branchId = branchId;
  }

  private base(path: Edit['path'], expect: Precondition): Base | Rejected {
    if (expect.kind === 'version' && !this.reader.heads.hasSeen(expect.seq)) {
      const message = `${path} is expected at version ${expect.seq}, but the newest seq is ${this.reader.store.counters.lastSeq}`;
      return reject('no-such-version', message, 'read the path and use the version that the read gives', {
        paths: [path],
      });
    }
    const pathId = this.reader.getPathId(path);
    if (pathId === undefined) return noBase;
    const cell = this.reader.heads.cell(this.branchId, pathId);
    const head = cell.version;
    if (head === undefined) return { cell, version: undefined, delta: undefined };
    // Its jump is looked up now, so that landing after it finds it without a read.
    linkAfterVersion(head, this.reader.version);
    const live = head.target === undefined ? undefined : head;
    if (expect.kind === 'any') return { cell, version: live, delta: live };
    if (expect.kind === 'absent') return { cell, version: undefined, delta: live };
    const seen = this.reader.versionAsOf(head, expect.seq);
    const version = seen?.target === undefined ? undefined : seen;
    return { cell, version, delta: version ?? live };
  }

  edit(edit: Edit): PreparedEdit | Rejected {
    const base = this.base(edit.path, edit.expect);
    if (isRejected(base)) return base;
    const { path, expect } = edit;
    const { cell } = base;
    const place = base.version?.place ?? nowhere;
    if (edit.kind === 'delete') {
      const moved = edit.movedTo === undefined ? {} : { movedTo: edit.movedTo, isDerived: true as const };
      return { path, expect, cell, base: place, target: undefined, content: undefined, body: noBody, ...moved };
    }
    if (edit.kind === 'chmod') {
      if (base.version === undefined) return absentPath(edit.path, 'has no mode to change');
      const content = this.reader.content(base.version.place);
      return {
        path,
        expect,
        cell,
        base: place,
        isDerived: true,
        ...this.written(content, edit.mode, base.version, base.version.blob),
      };
    }
    if (edit.content === undefined) return absentPath(edit.path, 'has no content');
    if (expect.kind === 'version' && expect.seq > 0 && base.version === undefined) {
      return absentPath(edit.path, `did not exist at version ${expect.seq}; expect absent to create it`);
    }
    const blob = edit.blob ?? blobIdOf(edit.content);
    const mode = edit.mode ?? base.delta?.mode ?? 'file';
    const body = bodyOf(this.reader, edit.content, blob, base.delta);
    const { content } = edit;
    const purged = isNotice(this.reader, content) ? { isPurged: true as const } : {};
    return { path, expect, cell, base: place, target: { blob, mode }, content, body, ...looksOf(content), ...purged };
  }

  /** The put side of a move: its content and mode come from the source's base. */
  moved(edit: Edit & { kind: 'put' }, source: PreparedEdit): PreparedEdit | Rejected {
    if (source.base.seq === 0) return absentPath(source.path, 'cannot be moved: it is absent there');
    const base = this.base(edit.path, edit.expect);
    if (isRejected(base)) return base;
    const from = this.reader.version(source.base);
    const content = edit.content ?? this.reader.content(from.place);
    const blob = edit.content === undefined ? from.blob : edit.blob;
    return {
      path: edit.path,
      expect: edit.expect,
      cell: base.cell,
      base: base.version?.place ?? nowhere,
      movedFrom: source.path,
      ...(isNotice(this.reader, content) && { isPurged: true as const }),
      ...this.written(content, edit.mode ?? from.mode ?? 'file', from, blob),
    };
  }

  private written(
    content: Buffer,
    mode: Mode,
    against: Version | undefined,
    known: BlobId | undefined,
  ): Pick<PreparedEdit, 'target' | 'content' | 'body' | 'lines' | 'cites'> {
    const blob = known ?? blobIdOf(content);
    return { target: { blob, mode }, content, body: bodyOf(this.reader, content, blob, against), ...looksOf(content) };
  }
}

type Looks = Pick<PreparedEdit, 'lines' | 'cites'>;

const noLooks: Looks = {};

/** What is seen of a content here, where no lock is held. */
export function looksOf(content: Buffer): Looks {
  const cites = citedSymbolsOf(content);
  if (content.length < megafileBytesMin && cites === undefined) return noLooks;
  return {
    ...(content.length >= megafileBytesMin && { lines: countLines(content) }),
    ...(cites !== undefined && { cites }),
  };
}

/** How a content is stored: as what a version holds already, or against a version, or whole. */
export function bodyOf(reader: LogReader, content: Buffer, blob: BlobId, against: Version | undefined): Body {
  const holder = reader.holderOf(blob);
  if (holder !== undefined) return sameBody(holder.place, holder.chain, content.length);
  if (against?.target === undefined) return encodeBody(content, undefined);
  try {
    return encodeBody(content, { place: against.place, chain: against.chain, content: reader.viewOf(against) });
  } catch (error) {
    if (isMoundError(error, 'purged')) return encodeBody(content, undefined);
    throw error;
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
  asked?: Buffer,
): PreparedIntent | Rejected {
  const branchId = reader.getBranchId(admitted.branch);
  if (branchId === undefined) {
    return reject('no-such-branch', `there is no branch '${admitted.branch}'`, "fork it first with 'mound branch'");
  }
  const early = admitted.records.find(({ expect }) => expect.kind === 'version' && !reader.heads.hasSeen(expect.seq));
  if (early) {
    const message = `record ${early.key} is expected at a version after the newest seq, ${reader.store.counters.lastSeq}`;
    return reject('no-such-version', message, 'read the record and use the version that the read gives', {
      paths: [early.key],
    });
  }
  const { asOf } = admitted;
  if (asOf !== undefined && !reader.heads.hasSeen(asOf)) {
    const message = `asOf is ${asOf}, but the newest seq is ${reader.store.counters.lastSeq}`;
    return reject('no-such-version', message, 'give the seq of the snapshot that was read');
  }
  const preparation = new Preparation(reader, branchId);
  const edits: PreparedEdit[] = [];
  for (const edit of admitted.edits) {
    // A move's source comes right before its destination.
    const source = edit.kind === 'put' && edit.movedFrom !== undefined ? edits.at(-1) : undefined;
    const prepared = source && edit.kind === 'put' ? preparation.moved(edit, source) : preparation.edit(edit);
    if (isRejected(prepared)) return prepared;
    edits.push(prepared);
  }
  const bodyDigest = digestEdits(admitted, edits, extras);
  return {
    admitted,
    edits,
    bodyDigest,
    asked,
    merged: noneMerged,
    extras,
    time,
    attempts: 0,
    hold: undefined,
    unmerged: undefined,
  };
}

const noneMerged: PreparedIntent['merged'] = [];

export function digestEdits(admitted: AdmittedIntent, edits: readonly PreparedEdit[], { git }: LandingExtras): Buffer {
  return digestCommitBody(admitted, edits, git?.raw);
}
