import { absent, version, type Outcome, type Repo } from '@mound/vcs';
import { setup } from './temp.ts';

export const seqOf = (outcome: Outcome): number => ('seq' in outcome ? outcome.seq : 0);

/** Lands one file by the setup author, based on a version (0: it is new), and gives its seq. */
export async function put(repo: Repo, path: string, content: string, base = 0): Promise<number> {
  return seqOf(await repo.put(path, content, { author: setup, expect: base === 0 ? absent : version(base) }));
}
