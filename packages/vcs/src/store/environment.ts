import { open, type RootDatabase } from 'lmdb';
import { join } from 'node:path';
import { MoundError } from '../core/errors.ts';
import { unpack } from '../format/codec.ts';
import { formatVersion } from '../format/version.ts';
import { corrupt } from './faults.ts';
import { openTables, tableCount, type Tables } from './tables.ts';

export const metaFormat = Buffer.from('format');
export const metaCounters = Buffer.from('counters');

/** LMDB's environment of one store, and its tables. */
export interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly tables: Tables;
  readonly isReadOnly: boolean;
}

export interface Identity {
  readonly repoId: string;
  readonly formatVersion: number;
}

/** Opens the environment in `home`. To write, it locks the writer mutex for a moment. */
export function openEnvironment(home: string, isReadOnly = false): Environment {
  const root = open<Buffer, Buffer>({
    path: join(home, 'store'),
    noSubdir: false,
    encoding: 'binary',
    maxDbs: tableCount + 8,
    maxReaders: 1024,
    // One plain fdatasync a transaction, so that returning means flushed.
    overlappingSync: false,
    readOnly: isReadOnly,
  });
  return { root, tables: openTables(root), isReadOnly };
}

export function readIdentity(home: string, tables: Tables): Identity {
  const bytes = tables.meta.getBinary(metaFormat);
  if (bytes === undefined) throw corrupt(home, 'it has no format record');
  const [name, version, repoId] = unpack(bytes) as [unknown, unknown, unknown];
  if (name !== 'mound' || typeof version !== 'number' || typeof repoId !== 'string') {
    throw new MoundError('format-unknown', `${home} holds another kind of store`, { dir: home });
  }
  if (version > formatVersion) {
    throw new MoundError(
      'format-newer',
      `${home} has format ${version}, newer than this Mound's ${formatVersion}; update @mound/vcs`,
      { dir: home, found: version, supported: formatVersion },
    );
  }
  return { repoId, formatVersion: version };
}
