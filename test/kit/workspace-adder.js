// Adds workspaces one after the other. Arguments: REPO_DIR PARENT_DIR PREFIX COUNT [links].
import { join } from 'node:path';
import { addWorkspace, openRepo } from '@mound/vcs';

const [repoDir, parent, prefix, count, links] = process.argv.slice(2);
const repo = await openRepo(repoDir);
for (let i = 0; i < Number(count); i++) {
  await addWorkspace(repo, join(parent, `${prefix}-${i}`), { links: links === 'links' });
}
await repo.close();
