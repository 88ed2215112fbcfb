/**
 * What kind of disagreement a conflicted path is: `reason` says more of the same.
 * - `content`: both changed the same lines, or a content that has none.
 * - `add-add`: both added the path, each with its own content.
 * - `edit-delete`: one edited what the other deleted.
 * - `rename-rename`: both moved a file to another name each, or two files to one name.
 * - `rename-delete`: one moved what the other deleted.
 * - `rename-edit`: an edit would follow a move to where another one stands.
 * - `file-directory`: a file on one side where the other has a directory.
 * - `symlink`: a link on one side, or where the other has a directory; or both changed where it points.
 * - `mode`: the modes differ three ways.
 * - `collision`: two paths that differ in case or Unicode form alone.
 * - `purged`: what was asked for is gone; a resolution has to give it anew.
 * - `split`: the file was split, and the change belongs to no one module.
 */
export type ConflictKind =
  | 'content'
  | 'add-add'
  | 'edit-delete'
  | 'rename-rename'
  | 'rename-delete'
  | 'rename-edit'
  | 'file-directory'
  | 'symlink'
  | 'mode'
  | 'collision'
  | 'purged'
  | 'split';

const kinds: Readonly<Record<string, ConflictKind>> = {
  'add/add': 'add-add',
  'modify/delete': 'edit-delete',
  'delete/modify': 'edit-delete',
  'move/move': 'rename-rename',
  'move/delete': 'rename-delete',
  'move/edit': 'rename-edit',
  'file/directory': 'file-directory',
  'symlink/directory': 'symlink',
  'path-collision': 'collision',
  symlink: 'symlink',
  type: 'symlink',
  mode: 'mode',
  purged: 'purged',
  split: 'split',
  'split/delete': 'split',
  'split/move': 'split',
};

/** Drivers may give reasons of their own: those are about contents. */
export const conflictKindOf = (reason: string): ConflictKind => kinds[reason] ?? 'content';
