import type { Mode } from '../core/mode.ts';
import { isBinary } from './lines.ts';

/** What a path holds. */
export interface FileState {
  readonly content: Uint8Array;
  readonly mode: Mode;
}

/** One path as it was and as each side left it; `null` where it is absent. */
export interface MergeInput {
  readonly path: string;
  readonly base: FileState | null;
  readonly current: FileState | null;
  readonly incoming: FileState | null;
}

export function isSameContent(one: Uint8Array, other: Uint8Array): boolean {
  return one === other || (one.length === other.length && Buffer.compare(one, other) === 0);
}

export function isSameState(one: FileState | null, other: FileState | null): boolean {
  if (one === null || other === null) return one === other;
  return one.mode === other.mode && isSameContent(one.content, other.content);
}

/** Bytes of the three contents together. */
export const sizeOf = ({ base, current, incoming }: MergeInput): number =>
  (base?.content.length ?? 0) + (current?.content.length ?? 0) + (incoming?.content.length ?? 0);

/** True for a mode whose content is a file's, not a symlink's target or a gitlink's id. */
export const isRegular = (mode: Mode): boolean => mode === 'file' || mode === 'executable';

/** A text beyond this is merged only as a whole: its lines would take many times its size in memory. */
export const textBytesMax: number = 64 * 1024 * 1024;

/** True for a file whose content can be merged by line. */
export const isText = ({ content, mode }: FileState): boolean =>
  isRegular(mode) && content.length <= textBytesMax && !isBinary(content);
