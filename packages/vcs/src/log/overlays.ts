import type { BlobId, RepoPath } from '../core/ids.ts';
import {
  blobsOfOverlay,
  decodeOverlay,
  decodeWorkspace,
  encodeOverlay,
  encodeWorkspace,
  overlayKey,
  overlayRange,
  workspaceKey,
  type OverlayRow,
  type WorkspaceRow,
} from '../format/workspace.ts';
import type { Store } from '../store/store.ts';

/** Errors: `object-damaged`. */
export function getWorkspace(store: Store, name: string): WorkspaceRow | undefined {
  const key = workspaceKey(name);
  const bytes = store.tables.workspaces.getBinary(key);
  return bytes && decodeWorkspace(key, Buffer.from(bytes));
}

/** In byte order of the names. */
export const workspaceRows = (store: Store): WorkspaceRow[] =>
  [...store.tables.workspaces.getRange({})].map(({ key, value }) =>
    decodeWorkspace(Buffer.from(key), Buffer.from(value)),
  );

/** Inside a transaction. */
export function putWorkspace(store: Store, row: WorkspaceRow): void {
  store.put('workspaces', workspaceKey(row.name), encodeWorkspace(row));
}

export function getOverlay(store: Store, id: string, path: RepoPath): OverlayRow | undefined {
  const bytes = store.tables.overlays.getBinary(overlayKey(id, path));
  return bytes && decodeOverlay(Buffer.from(bytes));
}

/** In byte order of the paths, but for very long ones. */
export const overlayRows = (store: Store, id: string): OverlayRow[] =>
  [...store.tables.overlays.getRange(overlayRange(id))].map(({ value }) => decodeOverlay(Buffer.from(value)));

/** Inside a transaction. */
export function putOverlay(store: Store, id: string, row: OverlayRow): void {
  store.put('overlays', overlayKey(id, row.path), encodeOverlay(row));
}

/** Inside a transaction: a row that need not be there. */
export function dropOverlay(store: Store, id: string, path: RepoPath): void {
  const key = overlayKey(id, path);
  if (store.tables.overlays.getBinary(key) !== undefined) store.remove('overlays', key);
}

/** Inside a transaction: the workspace and all of its rows. */
export function dropWorkspace(store: Store, { name, id }: WorkspaceRow): void {
  const keys = [...store.tables.overlays.getKeys(overlayRange(id))].map((key) => Buffer.from(key));
  for (const key of keys) store.remove('overlays', key);
  store.remove('workspaces', workspaceKey(name));
}

/** Objects that any workspace names. */
export function blobsOfOverlays(store: Store): Set<BlobId> {
  const blobs = new Set<BlobId>();
  for (const { value } of store.tables.overlays.getRange({})) {
    for (const blob of blobsOfOverlay(decodeOverlay(Buffer.from(value)))) blobs.add(blob);
  }
  return blobs;
}
