import { pack, unpackRow } from './codec.ts';

export interface BranchRow {
  readonly id: number;
  readonly name: string;
  /** -1 for `main`. */
  readonly parentId: number;
  readonly forkSeq: number;
  /** Seq of the newest entry with a commit, on the branch or inherited; 0: none. */
  readonly commitSeq: number;
}

export const encodeBranch = ({ name, parentId, forkSeq, commitSeq }: Omit<BranchRow, 'id'>): Buffer =>
  pack([name, parentId, forkSeq, commitSeq]);

export function decodeBranch(id: number, bytes: Uint8Array): BranchRow {
  const [name, parentId, forkSeq, commitSeq] = unpackRow(bytes) as readonly [string, number, number, number];
  return { id, name, parentId, forkSeq, commitSeq };
}
