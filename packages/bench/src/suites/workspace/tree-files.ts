import { lstatSync, readdirSync, readFileSync } from 'node:fs';

import { seededRandom } from '@mound/vcs';

import { Slab } from '../../workloads/slab.ts';
import { sourceText } from '../../workloads/source-text.ts';

/** By path. */
export type TreeFiles = ReadonlyMap<string, Buffer>;

const filesPerDirectory = 50;
const directoriesPerModule = 20;

/** Code-like files of `bytes` bytes each, 50 to a directory and 20 directories to one above. */
export function treeFiles(count: number, bytes: number, seed: number): Map<string, Buffer> {
  const random = seededRandom(seed);
  const slab = new Slab();
  const files = new Map<string, Buffer>();
  for (let file = 0; file < count; file++) {
    const directory = Math.floor(file / filesPerDirectory);
    const path = `module-${Math.floor(directory / directoriesPerModule)}/part-${directory}/file-${file}.ts`;
    files.set(path, sourceText(random, bytes, slab));
  }
  return files;
}

const ownNames = new Set(['.mound', '.git']);

/** The bare scan: lists every directory and takes the stat data of every entry, and nothing else. */
export function scanFiles(root: string, visit: (path: string) => void = () => undefined): void {
  const look = (directory: string, prefix: string): void => {
    for (const name of readdirSync(directory)) {
      if (prefix === '' && ownNames.has(name)) continue;
      const at = `${directory}/${name}`;
      if (lstatSync(at).isDirectory()) look(at, `${prefix}${name}/`);
      else visit(`${prefix}${name}`);
    }
  };
  look(root, '');
}

/** How many files below a directory are not, byte for byte, those that should be there. */
export function wrongFilesBelow(root: string, files: TreeFiles): number {
  let right = 0;
  let wrong = 0;
  scanFiles(root, (path) => {
    const content = files.get(path);
    if (content !== undefined && readFileSync(`${root}/${path}`).equals(content)) right++;
    else if (content === undefined) wrong++;
  });
  return wrong + files.size - right;
}
