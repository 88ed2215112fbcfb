import type { RepoPath } from '../core/ids.ts';
import { bytesOfPath, parentsOfPath } from '../core/path.ts';
import {
  parseAttributeFile,
  type AttributeFile,
  type AttributeRule,
  type AttributeState,
  type AttributeStates,
} from './attribute-file.ts';
import { matchesGlob } from './glob.ts';

/** The attributes of one path, by name; what is unspecified is not in it. */
export type PathAttributes = ReadonlyMap<string, true | false | string>;

export const attributeFileName = '.gitattributes';

export const isAttributeFile = (path: RepoPath): boolean =>
  path === attributeFileName || path.endsWith(`/${attributeFileName}`);

const latin1 = (bytes: Buffer): string => bytes.toString('latin1');

/** The attribute files that say something of a path, the root's first: the nearest comes last and wins. */
export function attributeFilesOf(path: RepoPath): RepoPath[] {
  const inDirectories = parentsOfPath(path).map((directory) => `${directory}/${attributeFileName}` as RepoPath);
  return [...inDirectories, attributeFileName as RepoPath].toReversed();
}

/** What an attribute file at `path` says; the result depends on both, and on nothing else. */
export function readAttributeFile(path: RepoPath, content: Uint8Array): AttributeFile {
  const bytes = latin1(bytesOfPath(path));
  return parseAttributeFile(content, bytes.slice(0, Math.max(0, bytes.lastIndexOf('/'))));
}

/** Git's own macro, beneath all files. */
const binaryStates: AttributeStates = [
  ['diff', false],
  ['merge', false],
  ['text', false],
];

/**
 * The attributes of a path as git gives them: of its files the nearest wins, of
 * a file's lines the last, and a macro that is set sets what it stands for where
 * nothing nearer did. Files of other directories say nothing; those that do must
 * stand in the order of {@link attributeFilesOf}.
 */
export function attributesOf(files: readonly AttributeFile[], path: RepoPath): PathAttributes {
  const bytes = latin1(bytesOfPath(path));
  const basename = bytes.slice(bytes.lastIndexOf('/') + 1);
  const found = new Map<string, AttributeState>();
  for (let at = files.length - 1; at >= 0; at--) {
    const { directory, rules } = files[at] as AttributeFile;
    if (directory !== '' && !bytes.startsWith(`${directory}/`)) continue;
    const below = directory === '' ? bytes : bytes.slice(directory.length + 1);
    for (let line = rules.length - 1; line >= 0; line--) {
      const { glob, isBasename, states } = rules[line] as AttributeRule;
      if (matchesGlob(glob, isBasename ? basename : below)) setStates(found, states, files);
    }
  }
  return new Map([...found].flatMap(([name, state]) => (state === undefined ? [] : [[name, textOf(state)] as const])));
}

/** Sets what is not set yet, the last first, and what macros stand for. */
function setStates(found: Map<string, AttributeState>, states: AttributeStates, files: readonly AttributeFile[]): void {
  for (let at = states.length - 1; at >= 0; at--) {
    const [name, state] = states[at] as AttributeStates[number];
    if (found.has(name)) continue;
    found.set(name, state);
    const macro = state === true ? macroOf(name, files) : undefined;
    if (macro !== undefined) setStates(found, macro, files);
  }
}

function macroOf(name: string, files: readonly AttributeFile[]): AttributeStates | undefined {
  const defined = files.findLast(({ macros }) => macros.has(name))?.macros.get(name);
  return defined ?? (name === 'binary' ? binaryStates : undefined);
}

const textOf = (state: true | false | string): true | false | string =>
  typeof state === 'string' ? Buffer.from(state, 'latin1').toString('utf8') : state;
