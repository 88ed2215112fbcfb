import { open, type Database } from 'lmdb';
import { join } from 'node:path';

type Table = Database<Buffer, Buffer>;

/** Changes rows beneath a repository that nobody has open. */
export async function tamper(dir: string, table: string, change: (rows: Table) => void): Promise<void> {
  const root = open<Buffer, Buffer>({
    path: join(dir, '.mound/store'),
    noSubdir: false,
    encoding: 'binary',
    maxDbs: 64,
    overlappingSync: false,
  });
  const rows: Table = root.openDB({ name: table, encoding: 'binary', keyEncoding: 'binary' });
  root.transactionSync(() => change(rows));
  await root.close();
}
