import { expect, test } from 'vitest';
import { seededRandom } from '@mound/vcs';
import { ManualTime, settle } from '../../core/manual-time.test.kit.ts';
import {
  askAt,
  failureOf,
  faultServer,
  live,
  request,
  says,
  status,
  until,
  type FaultServer,
} from '../fault-server.test.kit.ts';
import { FallbackModel } from '../fallback-model.ts';
import type { ModelError } from '../model-error.ts';
import type { ModelNotice, ModelTurn } from '../model.ts';
import { OpenAiModel } from '../openai-model.ts';
import { Endpoints } from './endpoints.ts';

/** What many agents do to one endpoint. Time is moved by hand; the servers are real. */

interface Fleet {
  readonly time: ManualTime;
  readonly endpoints: Endpoints;
  readonly server: FaultServer;
  readonly ends: (ModelTurn | ModelError)[];
  readonly notices: ModelNotice[];
}

function startAt(fleet: Fleet, agents: number, attemptsMax: number, server: FaultServer = fleet.server): void {
  const { endpoints, ends, notices } = fleet;
  for (let agent = 0; agent < agents; agent++) {
    const retry = { attemptsMax, delayMs: 1000, delayMsMax: 8000 };
    askAt(server.url, { endpoints, retry }, { notice: (notice) => notices.push(notice) }).then(
      (turn) => ends.push(turn),
      (error: unknown) => ends.push(error as ModelError),
    );
  }
}

async function fleetOf(...answers: Parameters<typeof faultServer>): Promise<Fleet> {
  const time = new ManualTime();
  const endpoints = new Endpoints({ time, random: seededRandom(7) });
  return { time, endpoints, server: await faultServer(...answers), ends: [], notices: [] };
}

/** Until nothing is on its way. */
const quiet = async ({ endpoints, server }: Fleet): Promise<void> => {
  const isQuiet = (): boolean => server.live.now === 0 && endpoints.states().every(({ inFlight }) => inFlight === 0);
  await until(isQuiet);
  await settle();
  await until(isQuiet);
};

/** Moves from timer to timer until all have ended, and gives the longest wait between two. */
async function toTheEnd(fleet: Fleet, agents: number): Promise<number> {
  let longest = 0;
  for (let step = 0; fleet.ends.length < agents; step++) {
    if (step > 2000) throw new Error('they never end');
    await quiet(fleet);
    const { next } = fleet.time;
    if (next === undefined) continue;
    longest = Math.max(longest, next);
    await fleet.time.advance(next);
    await settle();
  }
  return longest;
}

test('row 23: after one 429 nobody asks until the time it named, then one probe, then all', async () => {
  const fleet = await fleetOf(status(429, {}, { 'retry-after': '30' }), says('ok'));
  startAt(fleet, 50, 3);
  await until(() => fleet.notices.some(({ kind }) => kind === 'waiting'));
  await quiet(fleet);
  const before = fleet.server.requests.length;
  expect(before).toBeLessThanOrEqual(8);
  await fleet.time.advance(29_999);
  expect(fleet.server.requests).toHaveLength(before);
  // The probe is held back for a moment: meanwhile nobody else goes.
  const [, ok] = fleet.server.answers;
  let release: (() => void) | undefined;
  fleet.server.answers = [(...parts) => void (release = () => ok?.(...parts))];
  await fleet.time.advance(1);
  await until(() => release !== undefined);
  await settle();
  expect(fleet.server.requests).toHaveLength(before + 1);
  fleet.server.answers = [says('ok')];
  release?.();
  await toTheEnd(fleet, 50);
  expect(fleet.ends.every((end) => 'text' in end)).toBe(true);
});

test('requests at once grow while it goes well and halve when there are too many', async () => {
  const fleet = await fleetOf(says('ok'));
  startAt(fleet, 200, 1);
  await until(() => fleet.ends.length === 200);
  const grown = fleet.endpoints.states()[0]?.limit ?? 0;
  expect(grown).toBeGreaterThan(12);
  expect(fleet.server.live.max).toBeLessThanOrEqual(grown);
  fleet.server.answers = [status(429, {}, { 'retry-after': '1' })];
  startAt(fleet, 1, 1);
  await until(() => fleet.ends.length === 201);
  expect(fleet.endpoints.states()[0]?.limit).toBe(Math.floor(grown / 2));
});

test('row 24: where all fail, the retries of all agents stay within one budget', async () => {
  const fleet = await fleetOf(status(503));
  startAt(fleet, 30, 4);
  const startMs = fleet.time.now();
  await toTheEnd(fleet, 30);
  const minutes = (fleet.time.now() - startMs) / 60_000;
  const retries = fleet.server.requests.length - 30;
  expect(fleet.ends.every((end) => end instanceof Error && end.code === 'provider')).toBe(true);
  expect(retries).toBeLessThanOrEqual(20 + 20 * minutes + 1);
});

test('row 24: the budget is one for all endpoints: who finds it empty waits for its turn', async () => {
  const fleet = await fleetOf(status(500));
  const budget = { retriesMax: 2, retriesPerMinute: 1, retriesPerSuccess: 0 };
  const endpoints = new Endpoints({ time: fleet.time, random: seededRandom(7), retryBudget: budget });
  const servers = await Promise.all(Array.from({ length: 4 }, () => faultServer(status(500))));
  const sent = (): number => servers.reduce((sum, { requests }) => sum + requests.length, 0);
  for (const server of servers) startAt({ ...fleet, endpoints }, 1, 2, server);
  await until(() => sent() === 4 && fleet.notices.length === 4);
  await fleet.time.advance(10_000);
  await until(() => fleet.ends.length === 2);
  expect(sent()).toBe(6);
  await fleet.time.advance(60_000);
  await until(() => fleet.ends.length === 3);
  expect(sent()).toBe(7);
  await fleet.time.advance(60_000);
  await until(() => fleet.ends.length === 4);
  expect(sent()).toBe(8);
});

test('row 27: through 40 failures no delay is over its cap, and each wait is shown', async () => {
  const fleet = await fleetOf(...Array.from({ length: 40 }, () => status(429)), says('ok'));
  startAt(fleet, 1, 50);
  const longest = await toTheEnd(fleet, 1);
  expect(fleet.ends).toMatchObject([{ text: 'ok' }]);
  expect(longest).toBeLessThanOrEqual(8000);
  expect(fleet.notices.filter(({ kind }) => kind === 'waiting').length).toBeGreaterThanOrEqual(40);
});

test('row 28: one endpoint is down and one is busy: each is closed by itself, probed one at a time, and opens again', async () => {
  const fleet = await fleetOf(status(503));
  const busy = await faultServer(status(429, {}, { 'retry-after': '5' }), says('busy'));
  const well = await faultServer(says('well'));
  // Eight are sent, the others wait in the queue: they must not all be the probe.
  startAt(fleet, 24, 30);
  await until(() => fleet.server.requests.length === 8);
  await quiet(fleet);
  startAt(fleet, 4, 3, busy);
  startAt(fleet, 4, 1, well);
  await until(() => fleet.ends.filter((end) => 'text' in end && end.text === 'well').length === 4);

  let probes = 0;
  for (let step = 0; probes < 4; step++) {
    if (step > 200) throw new Error('it is not probed');
    const before = fleet.server.requests.length;
    await fleet.time.advance(fleet.time.next ?? 0);
    await quiet(fleet);
    const sent = fleet.server.requests.length - before;
    expect(sent).toBeLessThanOrEqual(1);
    probes += sent;
  }
  fleet.server.answers = [says('up')];
  await toTheEnd(fleet, 32);
  expect(fleet.ends.filter((end) => 'text' in end && end.text === 'up')).toHaveLength(24);
  expect(fleet.ends.filter((end) => 'text' in end && end.text === 'busy')).toHaveLength(4);
});

test('another model answers where the first is closed for long, and its own failures go on to the next', async () => {
  const fleet = await fleetOf(status(429, {}, { 'retry-after': '600' }));
  const broken = await faultServer(status(401, { error: { message: 'bad key' } }));
  const well = await faultServer(says('well', { usage: { prompt_tokens: 3, completion_tokens: 1 } }));
  const { endpoints, notices } = fleet;
  const [first, second, third] = [fleet.server, broken, well].map(
    ({ url }, at) => new OpenAiModel({ baseURL: url, model: `m${at}`, endpoints, retry: { attemptsMax: 3 } }),
  );
  if (first === undefined || second === undefined || third === undefined) throw new Error('unreachable');
  const model = new FallbackModel([first, second, third]);
  for (let turn = 0; turn < 2; turn++) {
    const answer = await model.complete(request, live(), { notice: (notice) => notices.push(notice) });
    expect(answer).toMatchObject({ text: 'well', spent: [{ model: 'm2' }] });
  }
  // The first is not asked again while it is closed.
  expect(fleet.server.requests).toHaveLength(1);
  expect(notices.filter(({ kind }) => kind === 'fallback')).toHaveLength(4);
  const error = await failureOf(new FallbackModel([first, second]).complete(request, live()));
  expect(error.code).toBe('refused');
});

test('who is aborted while it waits leaves the queue, and nobody behind it is held up', async () => {
  const busy = status(429, {}, { 'retry-after': '10' });
  const fleet = await fleetOf(busy, busy, busy, busy, says('ok'));
  const stop = new AbortController();
  const model = new OpenAiModel({ baseURL: fleet.server.url, model: 'm', endpoints: fleet.endpoints });
  const aborted = failureOf(model.complete(request, stop.signal));
  startAt(fleet, 3, 3);
  await until(() => fleet.notices.some(({ kind }) => kind === 'waiting'));
  await quiet(fleet);
  stop.abort();
  expect((await aborted).code).toBe('aborted');
  await toTheEnd(fleet, 3);
  expect(fleet.ends.every((end) => 'text' in end)).toBe(true);
});
