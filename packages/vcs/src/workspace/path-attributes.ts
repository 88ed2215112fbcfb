import {
  attributeFilesOf,
  attributesOf,
  diskLineEndsOf,
  readAttributeFile,
  type AttributeFile,
  type DiskLineEnds,
  type LineEndSettings,
  type PathAttributes,
} from '../attributes/index.ts';
import type { RepoPath } from '../core/ids.ts';
import { hexPrefix } from '../core/path.ts';

const none: PathAttributes = new Map();

/** Line ends of paths, from attribute files that are each read once. */
export class Attributes {
  private readonly read: (path: RepoPath) => Uint8Array | undefined;
  private readonly settings: LineEndSettings;
  /** Of no path alone: from the settings. */
  private readonly beneath: readonly AttributeFile[];
  private readonly over: readonly AttributeFile[];
  private readonly files = new Map<RepoPath, AttributeFile | undefined>();
  /** By directory: the files that say something of what is in it. */
  private readonly above = new Map<string, readonly AttributeFile[]>();

  /** `read` gives an attribute file's content, or undefined where there is none. */
  constructor(settings: LineEndSettings, read: (path: RepoPath) => Uint8Array | undefined) {
    this.settings = settings;
    this.read = read;
    this.beneath = ofTree(settings.attributesBeneath);
    this.over = ofTree(settings.attributesAbove);
  }

  of(path: RepoPath): DiskLineEnds {
    const files = this.filesAbove(path);
    return diskLineEndsOf(files.length === 0 ? none : attributesOf(files, path), this.settings);
  }

  private filesAbove(path: RepoPath): readonly AttributeFile[] {
    // The directories of such a name do not show.
    const directory = path.startsWith(hexPrefix) ? path : path.slice(0, Math.max(0, path.lastIndexOf('/')));
    let files = this.above.get(directory);
    if (files === undefined) {
      const own = attributeFilesOf(path).flatMap((file) => this.file(file) ?? []);
      files = [...this.beneath, ...own, ...this.over];
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

/** One that says something as if it stood at the root. */
const ofTree = (content: Uint8Array | undefined): readonly AttributeFile[] =>
  content === undefined ? [] : [readAttributeFile('.gitattributes' as RepoPath, content)];
