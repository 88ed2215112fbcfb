import type { RepoPath } from '../core/ids.ts';
import { bytesOfPath } from '../core/path.ts';
import type { LogReader } from '../log/log-reader.ts';

/** Paths below a directory that are or were on some branch, in their order. */
export function* pathsBelow(reader: LogReader, directory: RepoPath): Generator<RepoPath> {
  const start = Buffer.concat([bytesOfPath(directory), Buffer.from('/')]);
  const end = Buffer.concat([bytesOfPath(directory), Buffer.from('0')]);
  for (const { value } of reader.store.tables.paths.getRange({ start, end })) {
    yield reader.pathOf(value.readUInt32BE(0));
  }
}
