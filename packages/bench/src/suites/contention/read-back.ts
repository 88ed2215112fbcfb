import type { ContendedTrunk, EditAnswer } from '../../workloads/contended-trunk.ts';
import type { HotEdit, HotEdits } from '../../workloads/hot-edits.ts';
import { holdsEdit, type FileLineage, type Lineage } from '../../workloads/lineage.ts';

export interface AnsweredEdit {
  readonly edit: HotEdit;
  readonly answer: EditAnswer;
  /** The file as its agent made it. */
  readonly offered: Buffer;
}

export interface ReadBack {
  /** Edits whose author was told that they are safe and that are nowhere. */
  readonly lost: readonly HotEdit[];
  /** Landed edits of which a line stands on the trunk. */
  readonly standing: number;
  /** Landed edits whose every line was replaced by edits that had seen it. */
  readonly replaced: number;
  /** Edits that are whole in a record beside the trunk. */
  readonly aside: number;
  /** What must not be, whatever the authors were told: each line names one thing. */
  readonly faults: readonly string[];
}

/** Reads the trunk and the records beside it from disk and holds them against what the authors were told. */
export async function readBack(
  trunk: ContendedTrunk,
  load: HotEdits,
  lineage: Lineage,
  answered: readonly AnsweredEdit[],
): Promise<ReadBack> {
  const files = await trunk.readTrunk([...load.files.keys()]);
  const faults: string[] = [];
  const lineages = new Map<string, FileLineage>();
  for (const path of load.files.keys()) {
    const content = files.get(path);
    if (content === undefined) {
      faults.push(`${path} is not on the trunk`);
      continue;
    }
    const file = lineage.read(content);
    lineages.set(path, file);
    const lines = content.toString('utf8').split('\n').length - 1;
    if (lines !== load.linesPerFile) faults.push(`${path} has ${lines} lines instead of ${load.linesPerFile}`);
    for (const mark of file.doubled) faults.push(`${path} holds line ${mark} twice`);
  }
  const aside = await readAside(trunk, answered);
  const lost: HotEdit[] = [];
  let [standing, replaced] = [0, 0];
  for (const { edit, answer } of answered) {
    const file = lineages.get(edit.path);
    if (answer.kind === 'landed') {
      if (file?.accountsFor(edit) !== true) lost.push(edit);
      else if (file.shows(edit)) standing++;
      else replaced++;
      continue;
    }
    if (file?.shows(edit) === true) faults.push(`${edit.id} is on the trunk though its author was told otherwise`);
    if (promisesRecord(answer) && !aside.has(edit.id)) lost.push(edit);
  }
  return { lost, standing, replaced, aside: aside.size, faults };
}

const promisesRecord = (answer: EditAnswer): boolean =>
  answer.kind === 'kept' || (answer.kind === 'stranded' && answer.isRecorded);

/** Ids of the edits that are whole beside the trunk. */
async function readAside(trunk: ContendedTrunk, answered: readonly AnsweredEdit[]): Promise<Set<string>> {
  const promised = answered.filter(({ answer }) => promisesRecord(answer));
  const records = await trunk.readAside(promised.map(({ edit }) => edit));
  const whole = promised.filter(({ edit, answer, offered }) => {
    const held = records.get(edit.id);
    // On a side branch the edit may have been rebased before it was given up; a kept one is as it was offered.
    return held !== undefined && (answer.kind === 'kept' ? held.equals(offered) : holdsEdit(held, edit));
  });
  return new Set(whole.map(({ edit }) => edit.id));
}
