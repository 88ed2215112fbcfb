import { withEdit, type IntendedWork } from '../../workloads/intended-work.ts';
import { judgeEdits } from './arm.ts';
import type { Build } from './build.ts';

/** Shown to the compiler. */
const unbuildable = 'export const = ;\n';

/**
 * The negative control: an edit that was acknowledged and taken out again must count as lost, and a tree with a fault
 * as one that does not build. Gives a line for each that does not.
 */
export function controlFaults(work: IntendedWork, build: Build | undefined): string[] {
  const tree = work.initialFiles();
  const task = work.tasks.find(({ edits }) => edits.some(({ kind }) => kind === 'line'));
  const edit = task?.edits.find(({ kind }) => kind === 'line');
  if (task === undefined || edit === undefined) return ['the work has no line to take out'];
  const before = tree.get(edit.path) ?? '';
  const told = new Set([task.id]);
  const withIt = new Map(tree).set(edit.path, withEdit(edit, before, 1) ?? before);
  const [stands, gone] = [judgeEdits(work, withIt, told), judgeEdits(work, tree, told)];
  const isSeen = gone.lost === stands.lost + 1 && stands.accepted === gone.accepted + 1;
  const isBroken = build === undefined || build.faults(new Map(tree).set('src/broken.ts', unbuildable)).length > 0;
  return [
    ...(isSeen ? [] : ['an edit that is taken out does not count as lost']),
    ...(isBroken ? [] : ['a tree with a fault builds']),
  ];
}
