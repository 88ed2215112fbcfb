// Shelves a workspace's edits and dies by SIGKILL when a named step is reached. Arguments: REPO_DIR DIR STEP.
import { openRepo, openWorkspace } from '@mound/vcs';

const [repoDir, dir, step] = process.argv.slice(2);
const reach = (name) => {
  if (name === step) process.kill(process.pid, 'SIGKILL');
};
const repo = await openRepo(repoDir, { steps: { reach } });
await (await openWorkspace(repo, dir)).shelve();
await repo.close();
