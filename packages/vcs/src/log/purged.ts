import { isMoundError } from '../core/errors.ts';
import type { Place } from '../format/entry.ts';
import type { LogReader } from './log-reader.ts';

/**
 * The content of a version, or one line that says it was purged: a side of a
 * merge or a conflict that is gone must not make the other sides unreadable.
 */
export function contentOrNotice(reader: LogReader, place: Place): Buffer {
  try {
    return reader.content(place);
  } catch (error) {
    if (!isMoundError(error, 'purged')) throw error;
    return Buffer.from(`purged ${reader.version(place).blob ?? ''}\n`);
  }
}
