import {
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  utimesSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Steps } from '../core/steps.ts';
import type { DiskPath } from './disk-path.ts';
import { isPristine, linkFaults, timeOf, type CachedFile, type FileCache } from './file-cache.ts';

/** An entry that another has written to is set aside, and one that was removed is made again. */
const triesMax = 3;

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

/** Puts files in place as links to those of the cache, for one workspace that is added. */
export class FileLinker {
  private readonly cache: FileCache;
  /** Nobody else makes drafts of this name. */
  private readonly owner: string;
  private readonly steps: Steps;
  private drafts = 0;
  private isOff = false;
  private readonly linkTo: typeof linkSync;

  constructor(cache: FileCache, owner: string, steps: Steps, linkTo = linkSync) {
    this.cache = cache;
    this.owner = owner;
    this.steps = steps;
    this.linkTo = linkTo;
  }

  /** Gives the file's stat data; undefined: it cannot be linked and is to be written. */
  link(file: CachedFile, size: number, at: DiskPath, read: () => Uint8Array): Stats | undefined {
    const entry = this.cache.pathOf(file);
    for (let tries = 0; tries < triesMax && !this.isOff; tries++) {
      try {
        this.linkTo(entry, at);
      } catch (error) {
        const code = codeOf(error);
        // That one has as many links as a file may have.
        if (code === 'EMLINK') return undefined;
        if (code === 'ENOENT') this.make(entry, file, read());
        else this.mustBeOff(error);
        continue;
      }
      const stat = lstatSync(at);
      if (isPristine(stat, file, size)) return stat;
      this.cache.setAside(file, at, stat);
      rmSync(at);
    }
    return undefined;
  }

  private make(entry: string, { blob, isExecutable }: CachedFile, content: Uint8Array): void {
    const draft = this.cache.draftOf(this.owner, this.drafts++);
    try {
      mkdirSync(dirname(entry), { recursive: true });
      const handle = openSync(draft, 'wx', isExecutable ? 0o555 : 0o444);
      try {
        for (let done = 0; done < content.length;) done += writeSync(handle, content, done);
      } finally {
        closeSync(handle);
      }
      utimesSync(draft, timeOf(blob), timeOf(blob));
      linkSync(draft, entry);
      this.steps.reach('file-cached');
    } catch (error) {
      // Another made it meanwhile: the first one stays, whoever links it.
      if (codeOf(error) !== 'EEXIST') this.mustBeOff(error);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  private mustBeOff(error: unknown): void {
    if (!linkFaults.includes(codeOf(error))) throw error;
    this.isOff = true;
  }
}
