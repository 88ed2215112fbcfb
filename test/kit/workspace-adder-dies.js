// Adds a workspace and dies by SIGKILL when a named step is reached so many times. Arguments: REPO_DIR DIR STEP TIMES.
import { addWorkspace, openRepo } from '@mound/vcs';

const [repoDir, dir, step, times] = process.argv.slice(2);
let left = Number(times);
const reach = (name) => {
  if (name === step && --left === 0) process.kill(process.pid, 'SIGKILL');
};
const repo = await openRepo(repoDir, { steps: { reach } });
await addWorkspace(repo, dir);
await repo.close();
