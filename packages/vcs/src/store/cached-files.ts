import { lstatSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import type { BlobId } from '../core/ids.ts';
import { storeDirName } from './store-dir.ts';

/** What a cached file is for: linked as a file or as an executable, or cloned. */
export type CachedKind = 'f' | 'x' | 'c';

export interface CachedName {
  readonly at: string;
  /** Of a draft it is empty. */
  readonly name: string;
}

/** Where the files are that workspaces link and clone. It may be missing or deleted. */
export const filesDirOf = (repoDir: string): string => join(repoDir, storeDirName, 'files');

export const cachedDraftPrefix = 'draft-';

/** Whatever lies there: entries, those set aside, drafts. */
export function* cachedNames(filesDir: string): Generator<CachedName> {
  for (const below of namesIn(filesDir)) {
    const place = join(filesDir, below);
    if (below.startsWith(cachedDraftPrefix)) yield { at: place, name: '' };
    else for (const name of namesIn(place)) yield { at: join(place, name), name };
  }
}

/** Which content a file was made to hold, and what for; undefined: it is no entry. */
export function contentOfName(name: string): { readonly blob: BlobId; readonly kind: CachedKind } | undefined {
  const [, blob, kind] = /^([\da-f]{64})\.([fxc])(?:-\d+)?$/.exec(name) ?? [];
  return blob === undefined ? undefined : { blob: blob as BlobId, kind: kind as CachedKind };
}

/** Undefined: it is gone, or no file. */
export function cachedStat(at: string): Stats | undefined {
  const stat = lstatSync(at, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat : undefined;
}

/** Removes what was made to hold contents that are to go; files of workspaces stay. */
export function forgetCached(repoDir: string, isToGo: (blob: BlobId) => boolean): void {
  for (const { at, name } of cachedNames(filesDirOf(repoDir))) {
    const content = contentOfName(name);
    if (content !== undefined && isToGo(content.blob)) rmSync(at, { force: true });
  }
}

function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
