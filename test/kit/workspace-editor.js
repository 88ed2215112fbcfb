// Edits without files, tells when an edit is acknowledged, and waits to be killed. Arguments: REPO_DIR NAME.
import { openRepo } from '@mound/vcs';

const [repoDir, name] = process.argv.slice(2);
const repo = await openRepo(repoDir);
const workspace = await repo.workspace(name);
await workspace.write('edit.txt', 'durable\n');
process.stdout.write('acknowledged\n');
setInterval(() => undefined, 1000);
