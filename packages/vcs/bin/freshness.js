import { statSync } from 'node:fs';

const writtenMs = (path) => statSync(new URL(path, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Whether the bundle, which loads in half the time, holds what was compiled last: `tsc -b` alone does not renew it. */
export const isBundleFresh = () => {
  const bundledMs = writtenMs('../dist/bundle/main.js');
  return bundledMs > 0 && bundledMs >= writtenMs('../dist/.tsbuildinfo');
};
