import { compileGlob, matchesGlob, type Glob } from '../attributes/index.ts';
import type { RepoPath } from '../core/ids.ts';
import { bytesOfPath, parentsOfPath } from '../core/path.ts';

const latin1 = (path: RepoPath): string => bytesOfPath(path).toString('latin1');

/** Patterns as git has them; one that fits a directory fits everything below it. */
export class PathPatterns {
  private readonly globs: readonly Glob[];

  constructor(patterns: readonly string[]) {
    this.globs = patterns.map((pattern) => compileGlob(Buffer.from(pattern.replace(/\/$/, '')).toString('latin1')));
  }

  fit(path: RepoPath): boolean {
    const texts = [path, ...parentsOfPath(path)].map(latin1);
    return this.globs.some((glob) => texts.some((text) => matchesGlob(glob, text)));
  }
}
