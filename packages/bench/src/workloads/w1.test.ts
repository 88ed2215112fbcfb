import { describe, expect, test } from 'vitest';

import { W1 } from './w1.ts';

const parameters = { files: 60, filesPerCommit: 1, seed: 7 };

const linesOf = (content: Buffer): string[] => content.toString('utf8').split('\n');

/** Lines that are left between the common start and the common end. */
function editedRegion(before: string[], after: string[]): { removed: number; added: number } {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { removed: before.length - start - end, added: after.length - start - end };
}

describe('W1', () => {
  test('follows from its seed, byte for byte', () => {
    const [one, same, other] = [new W1(parameters), new W1(parameters), new W1({ ...parameters, seed: 8 })];
    expect(one.files).toEqual(same.files);
    expect(one.stream(10).peek(200)).toEqual(same.stream(10).peek(200));
    expect(one.files).not.toEqual(other.files);
  });

  test('has files of 4 KB, messages of 60 and rationales of 120 bytes', () => {
    const workload = new W1(parameters);
    for (const content of workload.files.values()) {
      expect(content).toHaveLength(4096);
      expect(linesOf(content).length).toBeGreaterThan(40);
      expect(content.at(-1)).toBe(10);
    }
    for (const { message, rationale } of workload.stream(1).peek(100)) {
      expect([Buffer.byteLength(message), Buffer.byteLength(rationale)]).toEqual([60, 120]);
    }
  });

  test('an operation edits at most 3 lines in a row of the current content', () => {
    const workload = new W1(parameters);
    const current = new Map(workload.files);
    const sizes: number[] = [];
    for (const { changes } of workload.stream(20).peek(600)) {
      for (const { path, content } of changes) {
        const { removed, added } = editedRegion(
          linesOf(current.get(path) ?? Buffer.of()),
          linesOf(content ?? Buffer.of()),
        );
        expect(removed).toBe(added);
        expect(removed).toBeLessThanOrEqual(3);
        sizes.push(removed);
        if (content !== null) current.set(path, content);
      }
    }
    expect(sizes.filter((size) => size === 3).length).toBeGreaterThan(500);
    for (const content of current.values()) expect(Math.abs(content.length - 4096)).toBeLessThan(1500);
  });

  test.each([1, 7, 20])('with %i in flight no path is in flight twice, and all paths come up', (inFlight) => {
    const filesPerCommit = 3;
    const operations = new W1({ ...parameters, filesPerCommit }).stream(inFlight).peek(1000);
    const owner = new Map<string, number>();
    operations.forEach(({ changes }, index) => {
      expect(new Set(changes.map(({ path }) => path)).size).toBe(filesPerCommit);
      for (const { path } of changes) {
        const agent = owner.get(path) ?? index % inFlight;
        owner.set(path, agent);
        // An agent waits for its own commit, so paths that only it edits are never in flight twice.
        expect(agent).toBe(index % inFlight);
      }
    });
    expect(owner.size).toBe(60);
    expect(new Set(operations.map(({ id }) => id)).size).toBe(1000);
  });

  test('processes divide the agents among them, each with paths of its own', () => {
    const workload = new W1(parameters);
    const parts = [0, 1, 2].map((process) => workload.stream(8, { process, processes: 3 }).peek(60));
    const agents = parts.map((operations) => new Set(operations.map(({ agent }) => agent)));
    expect(agents.map(({ size }) => size)).toEqual([3, 3, 2]);
    expect(new Set(agents.flatMap((names) => [...names])).size).toBe(8);
    const paths = parts.map(
      (operations) => new Set(operations.flatMap(({ changes }) => changes.map(({ path }) => path))),
    );
    expect(paths.reduce((sum, { size }) => sum + size, 0)).toBe(new Set(paths.flatMap((set) => [...set])).size);
    expect(new Set(parts.flat().map(({ id }) => id)).size).toBe(180);
    expect(workload.stream(8, { process: 1, processes: 3 }).peek(60)).toEqual(parts[1]);
  });

  test('refuses more agents than have paths of their own', () => {
    expect(() => new W1(parameters).stream(61)).toThrow(RangeError);
    expect(() => new W1({ ...parameters, filesPerCommit: 5 }).stream(13)).toThrow(RangeError);
  });

  test('the same operations are given out until they are acknowledged', () => {
    const stream = new W1(parameters).stream(4);
    const first = stream.peek(8);
    expect(stream.peek(8)).toEqual(first);
    stream.acknowledge(3);
    expect(stream.peek(5)).toEqual(first.slice(3));
    expect(stream.acknowledged.operationIds).toEqual(first.slice(0, 3).map(({ id }) => id));
    const newest = first.slice(0, 3).flatMap(({ changes }) => changes);
    for (const [path, content] of stream.acknowledged.files) {
      expect(newest.findLast((change) => change.path === path)?.content).toEqual(content);
    }
    expect(() => stream.acknowledge(6)).toThrow(RangeError);
  });
});
