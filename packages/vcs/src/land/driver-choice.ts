import { attributeFilesOf, attributesOf, readAttributeFile, type AttributeFile } from '../attributes/index.ts';
import { isMoundError } from '../core/errors.ts';
import type { RepoPath } from '../core/ids.ts';
import { isRegular } from '../merge/index.ts';
import type { Drivers, MergeDriver } from '../merge/index.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Version } from '../log/version.ts';

/** Attribute files that are kept read, by path and blob; more than a repo has in use. */
const filesKeptMax = 256;

/** Heads of one state of the repo, seen from a branch: another object once attribute files have changed. */
interface Heads {
  head(path: RepoPath): Version | undefined;
}

/** The merge driver of a path, by the `.gitattributes` of one state of the repo. */
export class DriverChoice {
  private readonly reader: LogReader;
  private readonly drivers: Drivers;
  private readonly files = new Map<string, AttributeFile>();
  private readonly chosen = new WeakMap<Heads, Map<RepoPath, MergeDriver>>();

  constructor(reader: LogReader, drivers: Drivers) {
    this.reader = reader;
    this.drivers = drivers;
  }

  of(heads: Heads, path: RepoPath): MergeDriver {
    let chosen = this.chosen.get(heads);
    if (chosen === undefined) this.chosen.set(heads, (chosen = new Map()));
    let driver = chosen.get(path);
    if (driver === undefined) chosen.set(path, (driver = this.choose(heads, path)));
    return driver;
  }

  private choose(heads: Heads, path: RepoPath): MergeDriver {
    const files = attributeFilesOf(path).flatMap((file) => this.read(file, heads.head(file)) ?? []);
    return this.drivers.of(path, attributesOf(files, path));
  }

  /** A link of this name has no attributes, as in git, and neither has one whose content was purged. */
  private read(path: RepoPath, head: Version | undefined): AttributeFile | undefined {
    if (head?.target === undefined || !isRegular(head.target.mode)) return undefined;
    const key = `${head.target.blob} ${path}`;
    const known = this.files.get(key);
    if (known !== undefined) return known;
    try {
      const file = readAttributeFile(path, this.reader.content(head.place));
      if (this.files.size >= filesKeptMax) this.files.clear();
      this.files.set(key, file);
      return file;
    } catch (error) {
      if (isMoundError(error, 'purged')) return undefined;
      throw error;
    }
  }
}
