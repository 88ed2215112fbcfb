import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ScriptedModel, type HandModule, type Model, type ModelRequest, type ModelTurn } from '@mound/swarm';

import { lineOf, type MindOptions } from './parameters.ts';

/** What one process measured while its agents worked. */
export interface Measured {
  /** Of the whole process, from the first request to the end. */
  readonly cpuMs: number;
  /** Of that, in the scripts that stand for models. */
  readonly modelMs: number;
  readonly residentBytes: number;
  /** Wall time of each step, from a turn's answer to the next request. */
  readonly stepMs: readonly number[];
}

const call = (name: string, input: object): { name: string; arguments: never } => ({ name, arguments: input as never });

/** A script for the workers of an arm: no model, and next to no time. */
export function scriptOf({ kind, steps }: Pick<MindOptions, 'kind' | 'steps'>): ScriptedModel {
  const usage = { inputTokens: 100, outputTokens: 20, cachedTokens: 0, estimated: false };
  return new ScriptedModel({
    worker: ({ brief, turn, results }) => {
      const { path, version } = (brief as unknown as { input: { path: string; version: number } }).input;
      if (turn === steps) {
        return { calls: [call('finish', { status: kind === 'step' ? 'done' : 'nothing-to-do' })], usage };
      }
      if (kind === 'empty') return { calls: [call('list', { prefix: `none-${turn}` })], usage };
      const landed = results.find(({ name }) => name === 'commit')?.value['outcome'] as { seq: number } | undefined;
      const edits = [{ search: `${lineOf(turn)}\n`, replace: `${lineOf(turn + 1)}\n` }];
      return {
        calls: [
          call('read', { path }),
          call('edit', { path, version: landed?.seq ?? version, edits }),
          call('commit', { message: `step ${turn + 1}`, more: true }),
        ],
        usage,
      };
    },
  });
}

/** The scripts with a watch on them. */
export class WatchedModel implements Model {
  readonly name = 'scripted';
  readonly #model: Model;
  readonly #answered = new Map<string, number>();
  readonly #stepMs: number[] = [];
  #modelMs = 0;
  #from: NodeJS.CpuUsage | undefined;

  constructor(model: Model) {
    this.#model = model;
  }

  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelTurn> {
    const startedMs = performance.now();
    this.#from ??= process.cpuUsage();
    const agent = request.messages[1]?.content ?? '';
    const before = this.#answered.get(agent);
    if (before !== undefined) this.#stepMs.push(startedMs - before);
    const from = process.cpuUsage();
    const turn = this.#model.complete(request, signal);
    const { user, system } = process.cpuUsage(from);
    this.#modelMs += (user + system) / 1000;
    this.#answered.set(agent, performance.now());
    return turn;
  }

  measured(): Measured {
    const { user, system } = process.cpuUsage(this.#from);
    return {
      cpuMs: this.#from === undefined ? 0 : (user + system) / 1000,
      modelMs: this.#modelMs,
      residentBytes: process.resourceUsage().maxRSS * 1024,
      stepMs: this.#stepMs,
    };
  }
}

/** The minds of one of a run's further processes. */
export const makeHand: HandModule = (options) => {
  const given = options as MindOptions;
  const model = new WatchedModel(scriptOf(given));
  return {
    models: { worker: model },
    close: () => writeFileSync(join(given.dir, `measured-${process.pid}.json`), JSON.stringify(model.measured())),
  };
};
