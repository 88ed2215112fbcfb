import { MoundError } from '../core/errors.ts';
import { absent, version, type Change } from '../core/intent.ts';
import type { Outcome } from '../core/outcome.ts';
import { headKey } from '../format/keys.ts';
import { admit } from '../intent/admit.ts';
import { isRejected } from '../intent/reject.ts';
import type { Lander } from '../land/lander.ts';
import { noExtras } from '../land/prepared.ts';
import type { BranchRow } from '../format/branch.ts';
import { decodeHead } from '../format/head.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { MergeOptions } from './api.ts';

/** Says that a branch was merged: written with the merge, so that it happens once. */
const mergedKey = (branch: string, into: string): string => `mound/merged/${into}/${branch}`;

/**
 * Lands what a branch changed since its fork on the branch that it was forked
 * from, as one intent with two parents. Every change is based on the fork, so
 * what the other branch did since is merged, or becomes a conflict.
 */
export async function mergeBranch(
  reader: LogReader,
  lander: Lander,
  name: string,
  options: MergeOptions,
): Promise<Outcome> {
  reader.refresh();
  const branch = reader.branchNamed(name);
  if (branch.parentId < 0) {
    throw new MoundError('invalid-argument', `'${name}' was forked from no branch; name one that was`, {
      branch: name,
    });
  }
  const into = reader.branch(branch.parentId).name;
  const form = admit({
    branch: into,
    author: options.author,
    message: options.message ?? `Merge branch ${name}`,
    changes: changesOf(reader, branch),
    records: [{ key: mergedKey(name, into), expect: absent, value: String(branch.commitSeq) }],
    ...(options.rationale !== undefined && { rationale: options.rationale }),
    ...(options.operationId !== undefined && { operationId: options.operationId }),
  });
  reader.store.steps.reach('branch-read');
  if (isRejected(form)) return form;
  const mergedSeq = branch.commitSeq > branch.forkSeq ? branch.commitSeq : 0;
  return lander.land({ ...form, mergedSeq }, noExtras);
}

/** Each path with a version of the branch's own, against what it was at the fork. */
function changesOf(reader: LogReader, branch: BranchRow): Change[] {
  const { id, parentId, forkSeq } = branch;
  const changes: Change[] = [];
  const range = { start: headKey(id, 0), end: headKey(id + 1, 0) };
  for (const { key, value } of reader.store.tables.heads.getRange(range)) {
    const pathId = key.readUInt32BE(4);
    const path = reader.pathOf(pathId);
    const { place, mode } = decodeHead(value);
    const before = reader.head(parentId, pathId);
    const atFork = before && reader.headAsOf(before, forkSeq);
    const wasThere = atFork?.mode !== undefined;
    const expect = wasThere ? version(forkSeq) : absent;
    if (mode !== undefined) changes.push({ kind: 'put', path, content: reader.content(place), mode, expect });
    else if (wasThere) changes.push({ kind: 'delete', path, expect });
  }
  return changes;
}
