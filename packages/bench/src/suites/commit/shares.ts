import type { Profiler } from 'node:inspector';

import type { CpuProfile } from '../../harness/cpu-profile.ts';

/**
 * Where the time of a commit goes.
 * - `hashing`: BLAKE3 in wasm. `encoding`: deltas, deflate, entries and their encoding.
 * - `lmdb`: the binding and LMDB's own work on the processor. `flush`: the main thread stands in a flush.
 * - `merging`: three-way merges. `landing`: Mound's other code: checks, queue, caches, indexes.
 * - `gc`: garbage collection. `client`: the bench's agents. `runtime`: Node and promises, where no caller is known.
 * - `waiting`: nothing to do in the main thread. `ready`: something to do and no processor: other programs had it.
 */
export const phases = [
  'hashing',
  'encoding',
  'lmdb',
  'flush',
  'merging',
  'landing',
  'gc',
  'client',
  'runtime',
  'waiting',
  'ready',
] as const;
export type Phase = (typeof phases)[number];

/** By the place of the code; the first that fits. Frames that fit none (Node's, V8's, small helpers) count for who called them. */
const places: readonly (readonly [RegExp, Phase])[] = [
  [/^wasm:|\/blake3-wasm\/|\/vcs\/(src|dist)\/format\/hash\./, 'hashing'],
  [/\/node_modules\/(lmdb|ordered-binary|weak-lru-cache)\//, 'lmdb'],
  [/\/vcs\/(src|dist)\/(format|log\/body)|\/node_modules\/msgpackr\/|^node:zlib/, 'encoding'],
  [/\/vcs\/(src|dist)\/merge\/|\/node_modules\/diff3\//, 'merging'],
  [/\/vcs\/(src|dist)\/(intent|land|log|rules|store|repo|events|views)\//, 'landing'],
  [/\/bench\/(src|dist)\//, 'client'],
];

const special: ReadonlyMap<string, Phase> = new Map([
  ['(garbage collector)', 'gc'],
  ['(idle)', 'waiting'],
]);

/** Of the profiler's own calls to start and stop. */
const isProfilers = ({ functionName }: Profiler.ProfileNode['callFrame']): boolean => functionName === 'dispatch';

function phaseOfFrame({ functionName, url }: Profiler.ProfileNode['callFrame']): Phase | undefined {
  return special.get(functionName) ?? places.find(([pattern]) => pattern.test(url))?.[1];
}

/** Shares of the main thread's time; they add up to 1. */
export function sharesOf({ profile, wallMs, thread }: CpuProfile): Map<Phase, number> {
  const spent = new Map<Phase, number>(phases.map((phase) => [phase, 0]));
  const phaseOfNode = phasesOfNodes(profile);
  let sampled = 0;
  for (const [at, id] of (profile.samples ?? []).entries()) {
    const phase = phaseOfNode.get(id);
    const ms = (profile.timeDeltas?.[at] ?? 0) / 1000;
    if (phase === undefined || ms < 0) continue;
    spent.set(phase, (spent.get(phase) ?? 0) + ms);
    sampled += ms;
  }
  if (sampled === 0) return spent;
  const shares = new Map([...spent].map(([phase, ms]) => [phase, ms / sampled]));
  return thread === undefined ? shares : withKernelsAccount(shares, wallMs, thread);
}

/** By node id; undefined for the profiler's own. */
function phasesOfNodes({ nodes }: Profiler.Profile): Map<number, Phase> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map<number, Phase>();
  const walk = (node: Profiler.ProfileNode, above: Phase): void => {
    if (isProfilers(node.callFrame)) return;
    const phase = phaseOfFrame(node.callFrame) ?? above;
    found.set(node.id, phase);
    for (const child of node.children ?? []) {
      const below = byId.get(child);
      if (below !== undefined) walk(below, phase);
    }
  };
  const [root] = nodes;
  if (root !== undefined) walk(root, 'runtime');
  return found;
}

/**
 * A sample in LMDB says nothing about whether the thread ran, stood in the
 * flush, or had come out of it and got no processor. The kernel does: where the
 * thread neither ran, nor wanted to, nor had nothing to do, it stood in a flush.
 * Only a thread that stands loses its processor for long, so what it was ready
 * without one is taken from LMDB too, and the rest from all that run.
 */
function withKernelsAccount(
  shares: ReadonlyMap<Phase, number>,
  wallMs: number,
  { onCpuMs, runnableMs }: NonNullable<CpuProfile['thread']>,
): Map<Phase, number> {
  const shareOf = (phase: Phase): number => shares.get(phase) ?? 0;
  const ready = Math.min(1, runnableMs / wallMs);
  const flush = Math.min(shareOf('lmdb'), Math.max(0, 1 - onCpuMs / wallMs - ready - shareOf('waiting')));
  const readyInLmdb = Math.min(shareOf('lmdb') - flush, ready);
  const lmdb = shareOf('lmdb') - flush - readyInLmdb;
  const running = 1 - shareOf('lmdb') - shareOf('waiting') + lmdb;
  const kept = running > 0 ? Math.max(0, 1 - (ready - readyInLmdb) / running) : 0;
  const found = new Map([...shares].map(([phase, share]) => [phase, share * kept]));
  found
    .set('lmdb', lmdb * kept)
    .set('flush', flush)
    .set('waiting', shareOf('waiting'));
  const told = [...found.values()].reduce((sum, share) => sum + share, 0);
  return found.set('ready', Math.max(0, 1 - told));
}
