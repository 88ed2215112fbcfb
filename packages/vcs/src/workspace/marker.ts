import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LineEndSettings } from '../attributes/index.ts';
import { MoundError } from '../core/errors.ts';
import { isRepoDir, storeDirName } from '../store/store-dir.ts';

/** Attribute files in base64. */
interface KeptSettings extends Pick<LineEndSettings, 'autocrlf' | 'eol'> {
  readonly beneath?: string;
  readonly above?: string;
}

/** What a workspace's directory says of itself, in `.mound/workspace.json`. */
export interface Marker {
  readonly format: 1;
  readonly workspace: string;
  readonly id: string;
  /** Directory of the repository. */
  readonly repo: string;
  readonly repoId: string;
  /** False where the file system has no symlinks: a link is shown as a file that holds its target. */
  readonly symlinks: boolean;
  /** False where the file system keeps no executable bits: modes are then what the repository says. */
  readonly modes?: boolean;
  /** Its files were put in place as hard links. */
  readonly links?: boolean;
  /** What git's settings said of line ends when it was added: its files were written so. */
  readonly lineEnds?: KeptSettings;
}

const markerPath = (dir: string): string => join(dir, storeDirName, 'workspace.json');

export const isWorkspaceDir = (dir: string): boolean => existsSync(markerPath(dir));

/** Errors: `not-a-workspace`. */
export function readMarker(dir: string): Marker {
  let marker: Partial<Marker> | undefined;
  try {
    marker = JSON.parse(readFileSync(markerPath(dir), 'utf8')) as Partial<Marker>;
  } catch (cause) {
    throw new MoundError(
      'not-a-workspace',
      `${dir} is no workspace, or its .mound/workspace.json is damaged`,
      { dir },
      cause,
    );
  }
  const { format, workspace, id, repo, repoId, symlinks } = marker ?? {};
  const isWhole = [workspace, id, repo, repoId].every((value) => typeof value === 'string');
  if (format !== 1 || !isWhole || typeof symlinks !== 'boolean') {
    throw new MoundError('not-a-workspace', `${dir}/.mound/workspace.json is of another form than this Mound's`, {
      dir,
    });
  }
  return marker as Marker;
}

export function keptSettings({ attributesBeneath, attributesAbove, ...rest }: LineEndSettings): KeptSettings {
  const kept = (content: Uint8Array): string => Buffer.from(content).toString('base64');
  return {
    ...rest,
    ...(attributesBeneath && { beneath: kept(attributesBeneath) }),
    ...(attributesAbove && { above: kept(attributesAbove) }),
  };
}

export function settingsOf({ beneath, above, ...rest }: KeptSettings = {}): LineEndSettings {
  const read = (text: string): Buffer => Buffer.from(text, 'base64');
  return {
    ...rest,
    ...(beneath !== undefined && { attributesBeneath: read(beneath) }),
    ...(above !== undefined && { attributesAbove: read(above) }),
  };
}

export function writeMarker(dir: string, marker: Marker): void {
  mkdirSync(join(dir, storeDirName), { recursive: true });
  writeFileSync(`${markerPath(dir)}.new`, `${JSON.stringify(marker)}\n`);
  renameSync(`${markerPath(dir)}.new`, markerPath(dir));
}

/** The nearest directory at or above `start` that is a workspace; undefined where a repository is nearer or there is none. */
export function findWorkspaceDir(start: string): string | undefined {
  let dir = resolve(start);
  for (;;) {
    if (isWorkspaceDir(dir)) return dir;
    const parent = join(dir, '..');
    if (isRepoDir(dir) || parent === dir) return undefined;
    dir = parent;
  }
}
