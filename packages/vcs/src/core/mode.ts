/** What kind of entry a path holds. A symlink's blob is its target; a gitlink's is the 40-digit git id. */
export type Mode = 'file' | 'executable' | 'symlink' | 'gitlink';

export const modes = ['file', 'executable', 'symlink', 'gitlink'] as const satisfies readonly Mode[];

export const isMode = (value: unknown): value is Mode => modes.includes(value as Mode);
