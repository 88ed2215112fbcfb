import type { Repo } from '@mound/vcs';
import { colocationOf, exportColocated } from '@mound/vcs/git';

/**
 * Where the repository was made in a git checkout, what the run landed goes out
 * to the branch that was chosen for it. A run's own end does not depend on it:
 * what did not go out is told of and goes with the next export.
 */
export async function exportAfterRun(repo: Repo): Promise<void> {
  try {
    const colocation = await colocationOf(repo);
    if (colocation === undefined) return;
    const { commits, skips } = await exportColocated(repo);
    const branch = colocation.ref.replace('refs/heads/', '');
    for (const { reason, remedy } of skips)
      console.error(`mound-swarm: git's branch '${branch}' stays: ${reason}; ${remedy}`);
    if (skips.length === 0) console.error(`mound-swarm: ${commits} commits went to git's branch '${branch}'`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    console.error(`mound-swarm: nothing went to git (${why}); 'mound export' tries again`);
  }
}
