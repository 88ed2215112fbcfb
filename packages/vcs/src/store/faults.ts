import { MoundError } from '../core/errors.ts';

export function corrupt(where: string, what: string): MoundError {
  return new MoundError('corrupt-store', `${where} is damaged: ${what}; restore a backup`, { dir: where });
}

/** A fault of the system or of LMDB as a typed error; whatever is none comes back as it is. */
export function asFault(cause: unknown, dir: string): unknown {
  if (cause instanceof MoundError || !(cause instanceof Error)) return cause;
  const code = (cause as NodeJS.ErrnoException).code;
  const text = cause.message;
  if (
    code === 'EACCES' ||
    code === 'EPERM' ||
    code === 'EROFS' ||
    code === 'ENOTDIR' ||
    /permission denied|read-only file system/i.test(text)
  ) {
    return new MoundError('permission-denied', `${dir} cannot be written to; check its owner and mode`, { dir }, cause);
  }
  if (code === 'ENOSPC' || code === 'EDQUOT' || /no space left/i.test(text)) {
    return new MoundError('disk-full', `no space left on the disk of ${dir}; free some and try again`, { dir }, cause);
  }
  if (/MDB_(CORRUPTED|INVALID|PAGE_NOTFOUND|PANIC|VERSION_MISMATCH)|not an LMDB file/i.test(text)) {
    return new MoundError('corrupt-store', `${dir} is damaged (${text}); restore a backup`, { dir }, cause);
  }
  return cause;
}
