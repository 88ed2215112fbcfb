// Lands random contents until that fails, then a small one; tells what happened as JSON.
// Arguments: DIR SIZE COUNT.
import { randomBytes } from 'node:crypto';
import { openRepo } from '@mound/vcs';

const [dir, size, count] = process.argv.slice(2);
const author = { name: 'filling', kind: 'agent' };
const repo = await openRepo(dir, { create: true });
const landed = [];
const codes = {};
for (let i = 0; i < Number(count); i++) {
  try {
    const content = randomBytes(Number(size));
    if ((await repo.put(`big/${i}`, content, { author })).kind === 'landed') landed.push(`big/${i}`);
  } catch (error) {
    codes[error.code] = (codes[error.code] ?? 0) + 1;
  }
}
const snapshot = repo.snapshot();
const lost = landed.filter((path) => snapshot.read(path)?.length !== Number(size));
const { ok } = repo.fsck();
await repo.close();
process.stdout.write(JSON.stringify({ landed: landed.length, codes, lost, ok }));
