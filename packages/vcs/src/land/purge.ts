import type { BlobId } from '../core/ids.ts';
import type { Author } from '../core/intent.ts';
import { nowhere, type Body, type ChangeRow, type LandingEntry, type Place } from '../format/entry.ts';
import { seqKey } from '../format/keys.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import { encodeBody, noBody } from '../log/body.ts';
import type { LogReader } from '../log/log-reader.ts';
import { noticeOf } from '../log/purged.ts';
import { removeObject } from '../log/staged.ts';
import type { Counters } from '../store/counters.ts';
import type { BatchWriter } from './batch-writer.ts';
import { encodeKept, keptOf } from './kept.ts';
import type { Lander } from './lander.ts';
import { PurgeScan, type Wanted } from './purge-scan.ts';
import { putParts, removeBody, removeParts, rewriteEntry, storedBody } from './rewrite.ts';

/** Entries that one transaction rewrites at most. */
const batchCount = 32;
const sliceCount = 256;
/** Writers that land the same bytes again and again are followed so often. */
const roundsMax = 100;

export interface PurgeAsked extends Wanted {
  readonly author: Author;
  readonly reason: string;
  readonly time: number;
  readonly isDryRun: boolean;
}

export interface Purged {
  readonly blobs: readonly BlobId[];
  /** Landings and kept intents that held them. */
  readonly seqs: readonly number[];
  readonly mentions: PurgeScan['mentions'];
  readonly staged: readonly BlobId[];
}

/** The body that a change is to have; undefined: it stays as it is. */
type BodyOf = (row: ChangeRow, entry: LandingEntry) => Body | undefined;

const purgedBody = (size: number): Body => ({
  form: 'purged',
  base: nowhere,
  chain: 0,
  size,
  bytes: Buffer.alloc(0),
  parts: 0,
});

/**
 * Removes objects from the whole history. What stays but is stored as a delta on
 * one of them, landed or kept, is written whole first, then their bodies are taken away, a few
 * entries a transaction: whoever is killed in between leaves a store that reads
 * as before or says `purged`; the next run goes on. The entry that tells of it
 * comes first. Commit ids stay: they name objects, whatever holds their bytes.
 */
export class Purge {
  private readonly reader: LogReader;
  private readonly lander: Lander;
  private readonly asked: PurgeAsked;
  private readonly told = new Set<BlobId>();

  constructor(reader: LogReader, lander: Lander, asked: PurgeAsked) {
    this.reader = reader;
    this.lander = lander;
    this.asked = asked;
  }

  async run(): Promise<Purged> {
    const blobs = new Set<BlobId>();
    const seqs = new Set<number>();
    const staged = new Set<BlobId>();
    let scan = new PurgeScan(this.reader, this.asked);
    for (let round = 0; round < roundsMax; round++) {
      scan = new PurgeScan(this.reader, this.asked);
      while (scan.catchUp(this.reader.refresh(), sliceCount)) await new Promise((resolve) => setImmediate(resolve));
      const inStage = scan.staged();
      for (const blob of [...scan.blobs, ...inStage]) blobs.add(blob);
      for (const seq of scan.seqs) seqs.add(seq);
      for (const blob of inStage) staged.add(blob);
      if (this.asked.isDryRun || (scan.isDone && inStage.length === 0)) break;
      await this.tell([...blobs]);
      await this.writeWhole([...scan.dependents.values()]);
      // Those that are to lose a content as well: what else they hold may be a delta on what goes.
      for (const seq of [...scan.kept, ...scan.leaning])
        await this.act((_w, counters) => this.rewriteKept(scan, counters, seq));
      await this.takeAway(scan, inStage);
    }
    return {
      blobs: [...blobs].toSorted(),
      seqs: [...seqs].toSorted((a, b) => a - b),
      mentions: scan.mentions,
      staged: [...staged],
    };
  }

  private act(write: (writer: BatchWriter, counters: Counters) => void): Promise<void> {
    return this.lander.act((writer, counters) => {
      write(writer, counters);
      counters.rewrites++;
    });
  }

  /** Says who took what away, when and why, before anything goes. */
  private async tell(blobs: readonly BlobId[]): Promise<void> {
    const { store } = this.reader;
    const isNew = (blob: BlobId): boolean =>
      !this.told.has(blob) && store.tables.purges.getBinary(Buffer.from(blob, 'hex')) === undefined;
    const fresh = blobs.filter(isNew).toSorted();
    for (const blob of blobs) this.told.add(blob);
    if (fresh.length === 0) return;
    const { author, reason, time } = this.asked;
    await this.act((writer) => {
      const seq = writer.append({
        kind: 'purge',
        time,
        branchId: 0,
        authorId: writer.authorId(author),
        blobs: fresh,
        reason,
      });
      for (const blob of fresh) store.put('purges', Buffer.from(blob, 'hex'), seqKey(seq));
    });
  }

  private async writeWhole(places: readonly Place[]): Promise<void> {
    for (let at = 0; at < places.length; at += batchCount) {
      this.reader.refresh();
      const bodies = places.slice(at, at + batchCount).map((place) => ({
        place,
        body: encodeBody(Buffer.from(this.reader.content(place)), undefined),
      }));
      await this.act((_writer, counters) => {
        for (const { place, body } of bodies) {
          this.rewriteChange(counters, place, (row, entry) => {
            if (row.body.base.seq === 0) return undefined;
            removeBody(this.reader.store, entry, place.index);
            return storedBody(this.reader.store, place, body);
          });
        }
      });
    }
  }

  private rewriteChange(counters: Counters, place: Place, bodyOf: BodyOf): void {
    const entry = this.reader.freshEntry(place.seq);
    const row = entry.kind === 'landing' ? entry.changes[place.index] : undefined;
    const body = entry.kind === 'landing' && row ? bodyOf(row, entry) : undefined;
    if (entry.kind !== 'landing' || row === undefined || body === undefined) return;
    rewriteEntry(this.reader.store, counters, { ...entry, changes: entry.changes.with(place.index, { ...row, body }) });
  }

  /** Takes the bodies away, unless something landed meanwhile that stands on one of them: then the next round does. */
  private async takeAway(scan: PurgeScan, staged: readonly BlobId[]): Promise<void> {
    const { store } = this.reader;
    const places = [...scan.targets.values()];
    const before = scan.standing;
    let isOvertaken = false;
    for (let at = 0; at < places.length && !isOvertaken; at += batchCount) {
      await this.act((_writer, counters) => {
        scan.catchUp(counters.lastSeq);
        isOvertaken = scan.standing > before;
        if (isOvertaken) return;
        for (const place of places.slice(at, at + batchCount)) {
          this.rewriteChange(counters, place, ({ body }, entry) => {
            if (body.form === 'purged') return undefined;
            if (body.form !== 'same') counters.objects--;
            removeBody(store, entry, place.index);
            return purgedBody(body.size);
          });
        }
      });
    }
    if (staged.length > 0) {
      await this.act(() => {
        for (const blob of staged) removeObject(store, blob);
      });
    }
  }

  /** A kept intent stays, its contents whole, with a line in the place of each that is gone. */
  private rewriteKept(scan: PurgeScan, counters: Counters, seq: number): void {
    const { store } = this.reader;
    const entry = this.reader.freshEntry(seq);
    if (entry.kind !== 'conflict' && entry.kind !== 'parked') return;
    const intent = keptOf(this.reader, entry);
    const edits = intent.edits.map((edit): AdmittedIntent['edits'][number] => {
      if (edit.kind !== 'put' || !scan.isEditWanted(edit)) return edit;
      return { ...edit, content: noticeOf(edit.blob), blob: undefined };
    });
    const bodies = edits.map((edit) =>
      edit.kind === 'put' && edit.content !== undefined ? encodeBody(edit.content, undefined) : noBody,
    );
    const kept = encodeKept({ ...intent, edits }, bodies);
    const place = { seq, index: 0 };
    removeParts(store, place, entry.keptParts);
    const keptParts = putParts(store, place, kept);
    rewriteEntry(store, counters, { ...entry, keptParts, kept: keptParts > 0 ? Buffer.alloc(0) : kept });
  }
}
