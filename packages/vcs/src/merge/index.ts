export { addedMarkers } from './added-markers.ts';
export type { LineRange, Region } from './combine.ts';
export { changedLines, type LineChange } from './changed-lines.ts';
export { joinLines, splitLines } from './lines.ts';
export { renderConflict, type MarkerLabels, type MarkerOptions } from './markers.ts';
export type { CleanVerdict, ConflictVerdict, DriverInput, DriverVerdict, MergeDriver } from './driver.ts';
export { hintOf } from './drivers/lock.ts';
export { Drivers, isBuiltIn } from './drivers/registry.ts';
export { setLasting } from './cut-text.ts';
export { conflictHunks, conflictRegions, contentsOf, mergeFile, undriven, type ConflictShape } from './merge-file.ts';
export { mergeAllQuickly } from './merge-quickly.ts';
export { isRegular, isText, sizeOf, type FileState, type MergeInput } from './merge-input.ts';
export type {
  CleanMerge,
  ConflictedMerge,
  ConflictHunk,
  ConflictReason,
  HunkSide,
  MergeResult,
} from './merge-result.ts';
export { MergePool, type MergePoolOptions } from './pool.ts';
export { conflictKindOf, type ConflictKind } from './conflict-kind.ts';
export { detectRenames, type Rename, type RenameFile, type RenameOptions } from './renames.ts';
export { provenanceOf, type LineRun } from './provenance.ts';
export { retarget } from './retarget.ts';
export { installedGrammars } from './structure/grammars.ts';
export { mergeLines } from './three-way.ts';
