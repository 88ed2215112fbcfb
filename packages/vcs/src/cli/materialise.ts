import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Snapshot } from '../repo/api.ts';

/**
 * Writes a snapshot's files into an empty directory. Links come last, so that no
 * file is ever written through one; a gitlink is an empty directory.
 */
export function materialise(snapshot: Snapshot, dir: string): number {
  const heads = snapshot.list();
  const pathIn = (path: string): string | Buffer =>
    path.startsWith('//hex:')
      ? Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(path.slice('//hex:'.length), 'hex')])
      : join(dir, path);
  const links: { readonly at: string | Buffer; readonly to: Buffer }[] = [];
  for (const { path, mode } of heads) {
    const at = pathIn(path);
    const content = snapshot.read(path) ?? Buffer.alloc(0);
    mkdirSync(dirname(at.toString()), { recursive: true });
    if (mode === 'gitlink') mkdirSync(at, { recursive: true });
    else if (mode === 'symlink') links.push({ at, to: content });
    else {
      writeFileSync(at, content, { flag: 'wx' });
      if (mode === 'executable') chmodSync(at, 0o755);
    }
  }
  for (const { at, to } of links) symlinkSync(to, at);
  return heads.length;
}
