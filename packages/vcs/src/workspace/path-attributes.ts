import {
  attributeFilesOf,
  attributesOf,
  readAttributeFile,
  type AttributeFile,
  type PathAttributes,
} from '../attributes/index.ts';
import type { RepoPath } from '../core/ids.ts';

const none: PathAttributes = new Map();

/** Attributes of paths, from attribute files that are each read once. */
export class Attributes {
  private readonly read: (path: RepoPath) => Uint8Array | undefined;
  private readonly files = new Map<RepoPath, AttributeFile | undefined>();

  /** `read` gives an attribute file's content, or undefined where there is none. */
  constructor(read: (path: RepoPath) => Uint8Array | undefined) {
    this.read = read;
  }

  of(path: RepoPath): PathAttributes {
    const files = attributeFilesOf(path).flatMap((file) => this.file(file) ?? []);
    return files.length === 0 ? none : attributesOf(files, path);
  }

  private file(path: RepoPath): AttributeFile | undefined {
    if (this.files.has(path)) return this.files.get(path);
    const content = this.read(path);
    const file = content && readAttributeFile(path, content);
    this.files.set(path, file);
    return file;
  }
}
