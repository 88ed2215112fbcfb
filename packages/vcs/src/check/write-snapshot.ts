import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Mode } from '../core/mode.ts';
import type { Snapshot } from '../repo/api.ts';

/** A file in place of the snapshot's; null: none. */
export type Overrides = ReadonlyMap<string, { readonly content: Uint8Array; readonly mode: Mode } | null>;

const filesAtOnce = 64;
const nothing: Overrides = new Map();

/**
 * Writes a snapshot's files, those of `overrides` instead of its own, into an empty directory. Links come last, so that no
 * file is ever written through one; a gitlink is an empty directory.
 */
export async function writeSnapshot(snapshot: Snapshot, dir: string, overrides: Overrides = nothing): Promise<void> {
  const heads = snapshot.list().filter(({ path }) => !overrides.has(path));
  const pathIn = (path: string): string | Buffer =>
    path.startsWith('//hex:')
      ? Buffer.concat([Buffer.from(`${dir}/`), Buffer.from(path.slice('//hex:'.length), 'hex')])
      : join(dir, path);
  const links: { readonly at: string | Buffer; readonly to: Uint8Array }[] = [];
  const place = (path: string, mode: Mode, content: Uint8Array): void => {
    const at = pathIn(path);
    mkdirSync(dirname(at.toString()), { recursive: true });
    if (mode === 'gitlink') mkdirSync(at, { recursive: true });
    else if (mode === 'symlink') links.push({ at, to: content });
    else {
      writeFileSync(at, content, { flag: 'wx' });
      if (mode === 'executable') chmodSync(at, 0o755);
    }
  };
  for (const [at, { path, mode }] of heads.entries()) {
    // Others work in this process meanwhile.
    if (at % filesAtOnce === filesAtOnce - 1) await setImmediate();
    place(path, mode, snapshot.read(path) ?? Buffer.alloc(0));
  }
  for (const [path, file] of overrides) if (file !== null) place(path, file.mode, file.content);
  for (const { at, to } of links) symlinkSync(Buffer.from(to), at);
}
