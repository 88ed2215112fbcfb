import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { CommandLoop } from '../../harness/command-loop.ts';
import type { MergeTriple } from '../../workloads/merge-triples.ts';
import { gitEnvironment } from '../git/git-repo.ts';
import type { MergeSubject, MergeVerdict } from './merge-subject.ts';

export interface ProcessMerge {
  readonly name: string;
  /** Shell text; `$n.base`, `$n.current` and `$n.incoming` are the inputs, the result goes to `$n.out`. */
  readonly script: string;
  readonly available: MergeSubject['available'];
  readonly verdictOf: (status: number) => MergeVerdict['kind'];
}

/** A program that is started for each merge, on files. */
export function processMerges({ name, script, available, verdictOf }: ProcessMerge): MergeSubject {
  return {
    name,
    available,
    open: (dir, signal) => {
      const env = { ...gitEnvironment(), GIT_CEILING_DIRECTORIES: join(dir, '..') };
      const loop = new CommandLoop(script, { cwd: dir, env, signal });
      return Promise.resolve({
        stage: async (triples) => {
          await Promise.all(triples.flatMap((triple, index) => filesOf(dir, triple, index)));
          const statuses: number[] = [];
          return {
            merge: async (index) => {
              statuses[index] = await loop.run(String(index));
            },
            verdicts: () => Promise.all(statuses.map((status, index) => verdict(dir, index, verdictOf(status)))),
          };
        },
        close: () => loop.close(),
      });
    },
  };
}

const filesOf = (dir: string, triple: MergeTriple, index: number): Promise<void>[] =>
  (['base', 'current', 'incoming'] as const).map((side) => writeFile(join(dir, `${index}.${side}`), triple[side]));

async function verdict(dir: string, index: number, kind: MergeVerdict['kind']): Promise<MergeVerdict> {
  return kind === 'clean' ? { kind, content: await readFile(join(dir, `${index}.out`)) } : { kind };
}
