// Compacts a repository for as long as it lives. Arguments: DIR KEEP.
import { openRepo } from '@mound/vcs';

const [dir, keep] = process.argv.slice(2);
const repo = await openRepo(dir);
process.stdout.write('ready\n');
for (;;) {
  await repo.compact({ keep: Number(keep) });
  await new Promise((resolve) => setTimeout(resolve, 1));
}
