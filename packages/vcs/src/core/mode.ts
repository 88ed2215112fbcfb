/** What kind of entry a path holds. A symlink's blob is its target; a gitlink's is the 40-digit git id. */
export type Mode = 'file' | 'executable' | 'symlink' | 'gitlink';

const octals: Readonly<Record<Mode, string>> = {
  file: '100644',
  executable: '100755',
  symlink: '120000',
  gitlink: '160000',
};

export const modes = Object.keys(octals) as readonly Mode[];

/** The mode as git writes it. */
export const gitModeOf = (mode: Mode): string => octals[mode];

export const isMode = (value: unknown): value is Mode => typeof value === 'string' && Object.hasOwn(octals, value);
