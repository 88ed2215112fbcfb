// Flips single bits of a closed repository's data file, one at a time, and tells what came of each.
// Arguments: DIR FIRST_SEED COUNT. Writes one JSON object. Runs in a process of its own, so that a
// flip that kills the process is seen as what it is.
import { mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fsckRepo, isMoundError, openRepo, seededRandom } from '@mound/vcs';
import { open } from 'lmdb';

const [dir, firstSeed, count] = process.argv.slice(2);
const sound = readFileSync(join(dir, '.mound/store/data.mdb'));
const work = join(dir, 'flipped');
const file = join(work, '.mound/store/data.mdb');
mkdirSync(join(work, '.mound/store'), { recursive: true });
writeFileSync(join(work, '.mound/wake'), '');
const pageBytes = 4096;
const headerBytes = 24;

/** Every row of every table; a Map from table to rows. */
async function rows() {
  const root = open({
    path: join(work, '.mound/store'),
    noSubdir: false,
    encoding: 'binary',
    maxDbs: 64,
    readOnly: true,
  });
  try {
    const names = [...root.getKeys({})].map((key) => Buffer.from(key).toString('utf8').replaceAll('\0', ''));
    return names.flatMap((name) => {
      const table = root.openDB({ name, encoding: 'binary', keyEncoding: 'binary' });
      return [...table.getRange({})].map(({ key, value }) => `${name} ${key.toString('hex')} ${value.toString('hex')}`);
    });
  } finally {
    await root.close();
  }
}

/** What every path holds as of some seqs: content by path and version. */
async function contents() {
  const repo = await openRepo(work);
  const found = new Map();
  try {
    const { seq: last } = repo.snapshot();
    for (const seq of [last, Math.floor(last / 2)]) {
      for (const { name } of repo.branches()) {
        const snapshot = repo.snapshot(seq, name);
        for (const { path, version } of snapshot.list()) {
          const at = repo.snapshot(seq, name).head(path);
          const content = snapshot.read(path);
          if (at !== undefined && content !== undefined) found.set(`${path}@${version}`, content.toString('latin1'));
        }
      }
    }
    return found;
  } finally {
    await repo.close();
  }
}

/** A bit of the metas or of a page that belongs to a tree, in its header, its slots or its rows. */
function placeOf(random) {
  for (;;) {
    const page = random.below(sound.length / pageBytes);
    const at = page * pageBytes;
    const kind = sound.readUInt16LE(at + 18);
    const bit = random.below(8);
    if (kind === 8) return [at + random.below(headerBytes + 144), bit];
    if (kind === 4) return [at + random.below(pageBytes), bit];
    if (kind !== 1 && kind !== 2) continue;
    const lower = headerBytes + sound.readUInt16LE(at + 20);
    const upper = headerBytes + sound.readUInt16LE(at + 22);
    const offset = random.below(lower + pageBytes - upper);
    return [at + (offset < lower ? offset : upper + offset - lower), bit];
  }
}

writeFileSync(file, sound);
const right = (await rows()).join('\n');
const rightContents = await contents();
// Opening may have written (a table that is new): what is flipped is what was closed.
const tally = {};
const troubles = [];
for (let seed = Number(firstSeed); seed < Number(firstSeed) + Number(count); seed++) {
  const [at, bit] = placeOf(seededRandom(seed * 7919 + 1));
  writeSync(2, `seed ${seed}: bit ${bit} of byte ${at}\n`);
  const damaged = Buffer.from(sound);
  damaged[at] ^= 1 << bit;
  writeFileSync(file, damaged);
  let verdict;
  try {
    const report = await fsckRepo(work);
    verdict = report.ok ? 'clean' : report.errors[0].code;
  } catch (error) {
    verdict = isMoundError(error) ? error.code : 'untyped';
    if (verdict === 'untyped') troubles.push({ seed, at, bit, what: String(error) });
  }
  tally[verdict] = (tally[verdict] ?? 0) + 1;
  if (verdict === 'clean' && (await rows()).join('\n') !== right) troubles.push({ seed, at, bit, what: 'not found' });
  if (!['index-wrong', 'object-damaged', 'chain-broken'].includes(verdict)) continue;
  // What can still be opened gives right bytes or a typed error.
  try {
    for (const [key, content] of await contents()) {
      if (rightContents.has(key) && rightContents.get(key) !== content)
        troubles.push({ seed, at, bit, what: `wrong bytes of ${key}` });
    }
  } catch (error) {
    if (!isMoundError(error)) troubles.push({ seed, at, bit, what: `reading: ${String(error)}` });
  }
}
process.stdout.write(JSON.stringify({ tally, troubles }));
