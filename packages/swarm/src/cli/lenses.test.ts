import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { any, openRepo } from '@mound/vcs';
import type { CorpusScore } from '../review/score.ts';
import { main } from './main.ts';

let out: string[];
let err: string[];
let dir: string;
beforeEach(async () => {
  out = [];
  err = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(text));
  vi.spyOn(console, 'error').mockImplementation((text: string) => void err.push(text));
  dir = await mkdtemp(join(tmpdir(), 'mound-lenses-test-'));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(dir, { recursive: true, force: true });
});

/** Each adds a function with one bound to a file that all of them share. */
async function history(count: number): Promise<void> {
  const repo = await openRepo(dir, { create: true });
  let text = '';
  for (let at = 0; at < count; at++) {
    text += `export function below${at}(n: number): boolean {\n  return n < ${at};\n}\n`;
    const changes = [{ kind: 'put', path: 'src/bounds.ts', content: text, expect: any }] as const;
    await repo.land({ author: { name: 'Ada', kind: 'human' }, message: `below ${at}: less than it`, changes });
  }
  await repo.close();
}

/** One lens knows what a function with that name has to say; the other suspects every change. */
const reviewer = `({ brief }) => {
  const lines = brief.change.diff.split('\\n');
  const path = lines.find((line) => line.startsWith('+++ b/')).slice(6);
  const start = Number(/^@@ -\\S+ \\+(\\d+)/m.exec(brief.change.diff)[1]);
  const fresh = lines.slice(lines.findIndex((line) => line.startsWith('@@')) + 1).filter((line) => !line.startsWith('-'));
  const wrong = fresh.findIndex((line) => line.startsWith('+') && / <= /.test(line));
  const at = brief.lens === 'bounds' ? wrong : 0;
  const finding = { severity: 'blocking', path, from: brief.lens === 'bounds' ? start + at : 9999, claim: 'c', evidence: fresh[at] };
  return { calls: [{ name: 'verdict', arguments: { findings: at < 0 ? [] : [finding] } }] };
}`;
const config = (more: object): Promise<void> =>
  writeFile(
    join(dir, 'swarm.config.json'),
    JSON.stringify({
      models: { mind: { kind: 'scripted', module: 'minds.mjs' } },
      roles: { planner: 'mind', worker: 'mind' },
      ...more,
    }),
  );
const lens = (name: string): object => ({ name, sees: 'output', paths: ['src'], rate: 0.1 });

test('lenses are scored on the own history with seeded defects, and the report has what each found and cost', async () => {
  await history(8);
  await writeFile(join(dir, 'minds.mjs'), `export default { reviewer: ${reviewer} };\n`);
  await config({ review: { lenses: [lens('bounds'), lens('suspicion')] } });
  expect([await main(['lenses', '--repo', dir, '--cases', '6', '--json']), err]).toEqual([0, []]);
  const score = JSON.parse(out.pop() ?? '') as CorpusScore;
  const seeded = score.defects;
  expect(score).toMatchObject({ cases: 6, defects: 3, found: 3 });
  expect(score.lenses).toMatchObject([
    { lens: 'bounds', defects: seeded, found: seeded, falseAlarms: 0, byKind: { 'boundary-shifted': { found: 3 } } },
    { lens: 'suspicion', defects: seeded, found: 0, falseAlarms: 6 },
  ]);
  expect(score.report.lenses).toMatchObject([
    { lens: 'bounds', calls: 6, findings: 3, confirmed: 3, refuted: 0, unique: 3 },
    { lens: 'suspicion', calls: 6, findings: 6, confirmed: 0, refuted: 6, unique: 0 },
  ]);
  expect(score.report.cost.tokens).toBeGreaterThan(100);
  // The same seed, the same corpus; in words it is the same report.
  expect(await main(['lenses', '--repo', dir, '--cases', '6'])).toBe(0);
  const said = out.join('\n');
  expect(said).toContain('6 changes, 3 with a seeded defect, 3 of these found by some lens');
  expect(said).toMatch(/bounds +3 of 3 +0 +boundary-shifted 3\/3/);
  expect(said).toMatch(/lens +calls +tokens +cost +findings +confirmed +refuted +unique/);
  expect(said).toContain('bounds and suspicion agree by an unknown amount (phi, 6 landings)');
  const repo = await openRepo(dir);
  // Nothing of it touches the repository.
  expect([...repo.log()]).toHaveLength(8);
  await repo.close();
});

test('without lenses, or without changes to read, it says so in one line', async () => {
  await history(1);
  await writeFile(join(dir, 'minds.mjs'), 'export default {};\n');
  await config({});
  expect(await main(['lenses', '--repo', dir])).toBe(2);
  expect(err.pop()).toBe('mound-swarm: the configuration names no lenses: review.lenses');
  expect(await main(['lenses', '--repo', dir, '--cases', '0'])).toBe(2);
});
