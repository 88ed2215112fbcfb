import {
  attributeFilesOf,
  attributesOf,
  readAttributeFile,
  type AttributeFile,
  type PathAttributes,
} from '../attributes/index.ts';
import type { RepoPath } from '../core/ids.ts';
import { hexPrefix } from '../core/path.ts';

const none: PathAttributes = new Map();

/** Attributes of paths, from attribute files that are each read once. */
export class Attributes {
  private readonly read: (path: RepoPath) => Uint8Array | undefined;
  private readonly files = new Map<RepoPath, AttributeFile | undefined>();
  /** By directory: the files that say something of what is in it. */
  private readonly above = new Map<string, readonly AttributeFile[]>();

  /** `read` gives an attribute file's content, or undefined where there is none. */
  constructor(read: (path: RepoPath) => Uint8Array | undefined) {
    this.read = read;
  }

  of(path: RepoPath): PathAttributes {
    const files = this.filesAbove(path);
    return files.length === 0 ? none : attributesOf(files, path);
  }

  private filesAbove(path: RepoPath): readonly AttributeFile[] {
    // The directories of such a name do not show.
    const directory = path.startsWith(hexPrefix) ? path : path.slice(0, Math.max(0, path.lastIndexOf('/')));
    let files = this.above.get(directory);
    if (files === undefined) {
      files = attributeFilesOf(path).flatMap((file) => this.file(file) ?? []);
      this.above.set(directory, files);
    }
    return files;
  }

  private file(path: RepoPath): AttributeFile | undefined {
    if (this.files.has(path)) return this.files.get(path);
    const content = this.read(path);
    const file = content && readAttributeFile(path, content);
    this.files.set(path, file);
    return file;
  }
}
