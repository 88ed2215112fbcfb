import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRepo, seededRandom } from '@mound/vcs';
import { readRun, readTranscript, type RunView } from '@mound/swarm';
import { expect, test } from 'vitest';
import { faults } from './kit/swarm/faulty-endpoint.js';
import { slotsOf } from './kit/swarm/minds.js';
import { projectDir, start } from './kit/process.ts';
import { scale, seed } from './kit/seed.ts';
import { landNew, tempDir } from './kit/temp.ts';

const runner = join(projectDir, 'test/kit/swarm/runner.js');
const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];

interface Acknowledged {
  readonly operationId: string;
  readonly kind: string;
  readonly paths: readonly { readonly path: string; readonly blob?: string }[];
}

/** Two of three edits of a task are on files in which all work. */
test.each([
  ['asks its minds directly', 8, 6, false],
  ['asks through a server with faults of every kind', Math.min(100, Math.round(12 * scale)), 3, true],
] as const)(
  'a swarm that is killed every moment and %s ends with all work, each edit once, and an exact ledger',
  async (_, agents, killsMax, isFaulty) => {
    const dir = tempDir();
    const noted = join(dir, 'faults');
    const [served, acknowledged] = [join(dir, 'served'), join(dir, 'acknowledged')];
    const shape = { subs: 3, perSub: Math.round(8 * scale), hotFiles: 3 };
    const count = shape.subs * shape.perSub;
    const repo = await openRepo(join(dir, 'repo'), { create: true });
    const files = {
      'log.txt': 'log\n',
      ...Object.fromEntries([0, 1, 2].map((at) => [`hot${at}.txt`, slotsOf(count)])),
    };
    await landNew(repo, files);
    await repo.close();

    const random = seededRandom(seed);
    const faulty = isFaulty ? { faults: noted, faultEvery: 7, isCounting: true } : {};
    const options = { dir: join(dir, 'repo'), agents, ...faulty, served, acknowledged, delayMs: 15, ...shape };
    let [kills, planners] = [0, 0];
    for (;;) {
      const { child, finished } = start(process.execPath, [runner, JSON.stringify(options)]);
      let isUp = false;
      child.stdout?.on('data', () => {
        if (isUp) return;
        isUp = true;
        if (kills < Math.round(killsMax * scale)) setTimeout(() => child.kill('SIGKILL'), 40 + random.below(700));
      });
      const end = await finished;
      if (end.signal === 'SIGKILL') {
        kills += 1;
        continue;
      }
      expect(end.stderr).toBe('');
      const result = JSON.parse(end.stdout.split('\n').at(-2) ?? '') as { reason: string; detail?: string };
      // A page of HTML is nothing that asking again would mend: where it meets the planner, somebody resumes the run.
      if (isFaulty && result.reason === 'planner-failed' && (planners += 1) < 20) {
        expect(result.detail).toMatch(/not-a-stream/);
        continue;
      }
      expect([result.reason, result.detail]).toEqual(['finished', undefined]);
      break;
    }
    expect(kills).toBeGreaterThan(0);

    const after = await openRepo(join(dir, 'repo'));
    try {
      const snapshot = after.snapshot();
      const log = snapshot.readText('log.txt') ?? '';
      for (let number = 0; number < count; number++) {
        const hot = snapshot.readText(`hot${number % 3}.txt`) ?? '';
        expect(hot.split(`filled by ${number}\n`)).toHaveLength(2);
        expect(log.split(`line of ${number}\n`)).toHaveLength(2);
        expect(snapshot.readText(`own/${number}.txt`)).toBe(`own ${number}\n`);
      }
      expect(after.conflicts()).toEqual([]);
      expect(after.fsck()).toMatchObject({ ok: true });

      // What was acknowledged is in the history, under its operation id.
      for (const line of linesOf(acknowledged)) {
        const { operationId } = JSON.parse(line) as Acknowledged;
        const outcome = after.outcome(operationId);
        expect(outcome).toBeDefined();
        expect(['landed', 'merged', 'unchanged']).toContain(outcome?.kind);
      }

      const view = readRun(after, 'chaos' as RunView['run']);
      if (view === undefined) throw new Error('no run');
      expect(view.header).toMatchObject({ state: 'ended', reason: 'finished' });
      const open = view.tasks.filter(({ record }) => record.state !== 'done');
      expect(open.map(({ task, record }) => [task.id, record])).toEqual([]);
      expect(view.tasks).toHaveLength(1 + shape.subs + count);
      expect(view.drafts.size).toBe(0);
      const transcripts = join(dir, 'repo', '.mound', 'swarm', 'chaos');
      if (isFaulty) {
        checkFaultyLedger(view, served, transcripts);
        expect(new Set(linesOf(noted))).toEqual(new Set(Object.keys(faults)));
      } else checkLedger(view, served, transcripts);
    } finally {
      await after.close();
    }
  },
);

/** Each request that a model has served is in the ledger once: as it was, or, where its process died in it, as a guess. */
function checkLedger(view: RunView, served: string, transcripts: string): void {
  let answered = 0;
  let cutOff = 0;
  for (const name of readdirSync(transcripts)) {
    const { lines, lostBytes } = readTranscript(join(transcripts, name));
    expect(lostBytes).toBe(0);
    answered += lines.filter(({ kind }) => kind === 'spent').length;
    cutOff += lines.filter(({ kind }) => kind === 'asked').length;
  }
  cutOff -= answered;
  const requests = view.agents.reduce((sum, { cost }) => sum + cost.requests, 0);
  const output = view.agents.reduce((sum, { cost }) => sum + cost.usage.outputTokens, 0);
  expect(requests).toBe(answered + cutOff);
  // A guess is for as many as an answer has here.
  expect(output).toBe(30 * requests);
  expect(view.agents.filter(({ cost }) => cost.usage.estimated)).toHaveLength(cutOff);
  const count = linesOf(served).length;
  expect(count).toBeGreaterThanOrEqual(answered);
  expect(count).toBeLessThanOrEqual(requests);
}

/** Each attempt stands in the ledger as its transcript tells it, also one that failed; a request that was cut off is a guess. */
function checkFaultyLedger(view: RunView, served: string, transcripts: string): void {
  let [attempts, output, reported, open] = [0, 0, 0, 0];
  for (const name of readdirSync(transcripts)) {
    for (const line of readTranscript(join(transcripts, name)).lines) {
      if (line.kind === 'asked') open += 1;
      if (line.kind !== 'spent') continue;
      open -= 1;
      attempts += line.spent.length;
      output += line.spent.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0);
      reported += line.spent.filter(({ usage }) => usage?.estimated === false).length;
    }
  }
  const sum = (of: (agent: RunView['agents'][number]) => number): number =>
    view.agents.reduce((all, agent) => all + of(agent), 0);
  expect(sum(({ cost }) => cost.requests)).toBe(attempts + open);
  expect(sum(({ cost }) => cost.usage.outputTokens)).toBe(output + 30 * open);
  // What a mind has answered is there as it was reported, but for what a kill kept from arriving.
  expect(reported).toBeGreaterThanOrEqual(linesOf(served).length - open);
}
