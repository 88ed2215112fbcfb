import type { BlobId } from '../core/ids.ts';
import type { LandingEntry, LogEntry, Place } from '../format/entry.ts';
import type { AdmittedIntent } from '../intent/edit.ts';
import type { LogReader } from '../log/log-reader.ts';
import { getObject, stagedObjects } from '../log/staged.ts';
import { blobOf } from './commit-body.ts';
import { basesOfKept, keptOf } from './kept.ts';

/** What is to go: objects by name, and those that hold some bytes. */
export interface Wanted {
  readonly blobs: ReadonlySet<BlobId>;
  readonly needle: Buffer | undefined;
}

const keyOf = ({ seq, index }: Place): string => `${seq}/${index}`;
const holds = (bytes: Uint8Array, needle: Buffer): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(needle);

/** Where the wanted bytes stand: found by one walk of the log, which goes on as the log grows. */
export class PurgeScan {
  readonly blobs = new Set<BlobId>();
  /** Versions whose bodies are to go. */
  readonly targets = new Map<string, Place>();
  /** Versions that stay, but whose stored bytes are a delta on a target. */
  readonly dependents = new Map<string, Place>();
  /** Conflicts and parked intents that keep such a content. */
  readonly kept = new Set<number>();
  /** Those that keep none of it, but whose stored bytes are a delta on a target. */
  readonly leaning = new Set<number>();
  readonly seqs = new Set<number>();
  /** Messages and records that hold the bytes: reported, since commit ids are made of them. */
  readonly mentions: { readonly seq: number; readonly where: string }[] = [];
  seenSeq = 0;
  private readonly reader: LogReader;
  private readonly wanted: Wanted;

  constructor(reader: LogReader, wanted: Wanted) {
    this.reader = reader;
    this.wanted = wanted;
  }

  /** Takes in at most `count` further entries; whether there are more. */
  catchUp(lastSeq: number, count = Number.MAX_SAFE_INTEGER): boolean {
    const end = Math.min(lastSeq, this.seenSeq + count);
    while (this.seenSeq < end) this.take(this.reader.mustGetEntry(++this.seenSeq));
    return this.seenSeq < lastSeq;
  }

  get isDone(): boolean {
    return this.targets.size + this.dependents.size + this.kept.size === 0;
  }

  /** What has to be written anew before the targets go. */
  get standing(): number {
    return this.dependents.size + this.kept.size + this.leaning.size;
  }

  staged(): BlobId[] {
    return [...stagedObjects(this.reader.store)].map(({ blob }) => blob).filter((blob) => this.isStagedWanted(blob));
  }

  private isStagedWanted(blob: BlobId): boolean {
    if (this.isNamed(blob)) return true;
    const { needle } = this.wanted;
    const content = needle && getObject(this.reader.store, blob);
    return content !== undefined && needle !== undefined && holds(content, needle);
  }

  private isNamed(blob: BlobId): boolean {
    return this.wanted.blobs.has(blob) || this.blobs.has(blob);
  }

  isWanted(blob: BlobId | undefined, content: () => Uint8Array): boolean {
    if (blob === undefined) return false;
    const { needle } = this.wanted;
    return this.isNamed(blob) || (needle !== undefined && holds(content(), needle));
  }

  private take(entry: LogEntry): void {
    if (entry.kind === 'landing') this.landing(entry);
    else if (entry.kind === 'conflict' || entry.kind === 'parked') {
      if (keptOf(this.reader, entry).edits.some((edit) => this.isEditWanted(edit))) {
        this.kept.add(entry.seq);
        this.seqs.add(entry.seq);
      } else if (basesOfKept(this.reader, entry).some((base) => this.targets.has(keyOf(base)))) {
        this.leaning.add(entry.seq);
      }
    }
  }

  isEditWanted(edit: AdmittedIntent['edits'][number]): boolean {
    const { content } = edit.kind === 'put' ? edit : { content: undefined };
    const isIt = content !== undefined && edit.kind === 'put' && this.isWanted(blobOf(edit), () => content);
    if (isIt && edit.kind === 'put' && edit.blob !== undefined) this.blobs.add(edit.blob);
    return isIt;
  }

  private landing(entry: LandingEntry): void {
    const { seq } = entry;
    for (const [index, row] of entry.changes.entries()) {
      const place = { seq, index };
      if (row.blob === undefined || row.body.form === 'purged') continue;
      if (this.isWanted(row.blob, () => this.reader.content(place))) {
        this.blobs.add(row.blob);
        this.targets.set(keyOf(place), place);
        this.seqs.add(seq);
      } else if (row.body.base.seq > 0 && this.targets.has(keyOf(row.body.base))) {
        this.dependents.set(keyOf(place), place);
      }
    }
    const { needle } = this.wanted;
    if (needle === undefined) return;
    const texts = [entry.message, entry.rationale ?? '', entry.task ?? '', entry.breakage ?? ''].join('\0');
    const isSaid = [Buffer.from(texts), entry.gitRaw, entry.accounts].some((bytes) => bytes && holds(bytes, needle));
    if (isSaid) this.mentions.push({ seq, where: 'message' });
    for (const { key, value } of entry.records) {
      if (value !== null && holds(value, needle)) this.mentions.push({ seq, where: `record ${key}` });
    }
  }
}
