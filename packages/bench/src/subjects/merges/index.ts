import { gitMergeFileDiff3Merges, gitMergeFileMerges } from './git-merge-file.ts';
import { gitMergeTreeMerges } from './git-merge-tree.ts';
import { gnuDiff3Merges } from './gnu-diff3.ts';
import type { MergeSubject } from './merge-subject.ts';
import { carelessMerges, moundChosenMerges, moundTextMerges, slowedMerges } from './mound.ts';

/** Mound's merge drivers, by the name that `--driver` takes. To add one: `moundMerges('mound-NAME', …)`, add it here. */
export const moundDrivers: Readonly<Record<string, MergeSubject>> = {
  text: moundTextMerges,
  chosen: moundChosenMerges,
};

/** What Mound is laid beside. To add one: implement `MergeSubject`, add it here; the conformance test takes it up. */
export const mergePeers: readonly MergeSubject[] = [
  gitMergeFileMerges,
  gitMergeFileDiff3Merges,
  gnuDiff3Merges,
  gitMergeTreeMerges,
];

/** Negative controls: a slow Mound and a careless one; a bench that does not see them sees nothing. */
export const mergeControls: readonly MergeSubject[] = [slowedMerges, carelessMerges];
