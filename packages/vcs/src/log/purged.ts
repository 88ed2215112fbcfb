import { isMoundError } from '../core/errors.ts';
import type { BlobId } from '../core/ids.ts';
import type { Place } from '../format/entry.ts';
import type { LogReader } from './log-reader.ts';

/** One line that stands for a content that was purged. */
export const noticeOf = (blob: BlobId | undefined): Buffer => Buffer.from(`purged ${blob ?? ''}\n`);

const noticePattern = /^purged ([0-9a-f]{64})\n$/;
const noticeBytes = noticeOf('0'.repeat(64) as BlobId).length;

/** Whether a content of a kept intent is what a purge left of it. */
export function isNotice(reader: LogReader, content: Buffer): boolean {
  if (content.length !== noticeBytes) return false;
  const blob = noticePattern.exec(content.toString('latin1'))?.[1];
  return blob !== undefined && reader.store.tables.purges.getBinary(Buffer.from(blob, 'hex')) !== undefined;
}

/**
 * The content of a version, or one line that says it was purged: a side of a
 * merge or a conflict that is gone must not make the other sides unreadable.
 * `isLasting`: it is not written to, see `LogReader.lastingContent`.
 */
export function contentOrNotice(reader: LogReader, place: Place, isLasting = false): Buffer {
  try {
    return isLasting ? reader.lastingContent(place) : reader.content(place);
  } catch (error) {
    if (!isMoundError(error, 'purged')) throw error;
    return noticeOf(reader.version(place).blob);
  }
}
