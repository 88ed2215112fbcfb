import type { MergeDriver } from '../driver.ts';

/** Never merges: `-merge` and `binary` in `.gitattributes`. */
export const binaryDriver: MergeDriver = {
  id: 'binary',
  version: '1',
  takesBinary: true,
  merge: () => ({ kind: 'conflict' }),
};
