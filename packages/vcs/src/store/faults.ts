import { MoundError, type ErrorCode } from '../core/errors.ts';
import { lackOfRoom } from './disk-room.ts';

export function corrupt(where: string, what: string): MoundError {
  return new MoundError('corrupt-store', `${where} is damaged: ${what}; restore a backup`, { dir: where });
}

/**
 * A fault of the system or of LMDB as a typed error; whatever is none comes
 * back as it is. `dataPath` is the file that was written, if one was.
 */
export function asFault(cause: unknown, dir: string, dataPath?: string): unknown {
  if (cause instanceof MoundError || !(cause instanceof Error)) return cause;
  const code = (cause as NodeJS.ErrnoException).code;
  const text = cause.message;
  const fault = (as: ErrorCode, message: string): MoundError => new MoundError(as, message, { dir }, cause);
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    code === 'ENOTDIR' ||
    /permission denied|read-only file system/i.test(text)
  ) {
    return fault('permission-denied', `${dir} cannot be written to; check its owner and mode`);
  }
  if (code === 'ENOSPC' || code === 'EDQUOT' || /no space left|quota exceeded/i.test(text)) {
    return fault('disk-full', `no space left on the disk of ${dir}; free some and try again`);
  }
  if (/input\/output error|file too large/i.test(text)) {
    const lack = dataPath === undefined ? undefined : lackOfRoom(dataPath);
    if (lack !== undefined) return fault('disk-full', `${dir} cannot grow: ${lack}; make room and try again`);
    return fault('disk-failed', `the disk of ${dir} answers '${text}'; look into the system's log, then try again`);
  }
  if (/MDB_READERS_FULL/.test(text)) {
    return fault('too-many-readers', `too many processes and threads read ${dir} at once; end some and try again`);
  }
  if (/MDB_PANIC/.test(text)) {
    return fault(
      'disk-failed',
      `an earlier write to ${dir} failed half-way; close it in this process and open it again`,
    );
  }
  if (/MDB_(CORRUPTED|INVALID|PAGE_NOTFOUND|VERSION_MISMATCH)|not an LMDB file/i.test(text)) {
    return fault('corrupt-store', `${dir} is damaged (${text}); restore a backup`);
  }
  return cause;
}
