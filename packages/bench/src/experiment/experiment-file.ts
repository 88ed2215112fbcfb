import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { loadConfig, saysOf } from '@mound/swarm';
import { z } from 'zod';

import { publishedThresholds } from '../curve/index.ts';
import { UnreadableError } from '../suites/suite.ts';

const name = z.string().min(1);
const plainName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+, -]{0,79}$/, 'letters, digits, blanks and . , _ + - only');
const bound = z.union([z.number().min(0), z.literal('unlimited')]);
const wholeBound = z.union([z.int().min(0), z.literal('unlimited')]);
/** Parts of a swarm's configuration, which `parseConfig` checks once they are put together. */
const part = z.record(z.string(), z.unknown());

/** Roles that a mix gives a model to. */
const mix = z.strictObject({
  planner: name,
  worker: name,
  /** Default: the planner's. */
  merger: name.optional(),
  reconciler: name.optional(),
  decomposer: name.optional(),
  reviewer: name.optional(),
  peer: name.optional(),
});

const arm = z.strictObject({
  name: plainName,
  /** What it starts from: `all-on`, `all-off`, `no-MECHANISM`, `one-at-a-time`, `solo`, `old-style`. */
  preset: name.default('all-on'),
  /** Of `mixes`, by name. Default: all. */
  mixes: z.array(name).min(1).optional(),
  /** Over the preset. */
  swarm: part.default({}),
});

const schema = z.strictObject({
  format: z.literal(1),
  name: plainName,
  /** File with the goal's text. */
  goal: name,
  /** Directory with prompt files, ROLE.md, in place of the shipped ones. Default: those. */
  prompts: name.optional(),
  /** Directory whose files the repository starts with. Default: none. */
  tree: name.optional(),
  /** A script that puts documentation into the directory that it is given; agents find it below `into`. */
  documentation: z.strictObject({ script: name, into: name.default('documentation') }).optional(),
  /** Programs without which it makes no sense to begin. */
  tools: z.array(name).default([]),
  /** Each arm has the same. */
  budget: z
    .strictObject({
      usd: bound.default('unlimited'),
      tokens: wholeBound.default('unlimited'),
      agentMinutes: bound.default('unlimited'),
      /** From the start of an arm to its end. */
      minutes: bound.default('unlimited'),
    })
    .prefault({}),
  seeds: z.int().min(1).max(100).default(1),
  /** `off`: commands of agents run in a sandbox without one, or not at all. */
  network: z.enum(['off', 'on']).default('off'),
  dependencies: z
    .strictObject({
      /** Names of packages that may be used; the standard library always may. */
      allow: z.array(name).default([]),
    })
    .optional(),
  /** How the trees of a run are scored, along its commits, after its end; agents are told nothing of it. */
  score: z
    .strictObject({
      /** Prints JSON with `passed` and `total` last, in a directory with the tree. `{here}` is the directory of the experiment's file. */
      command: name.optional(),
      /** Instead: a directory with `.test` files, and the command of the engine that is asked them. */
      corpus: name.optional(),
      engine: name.optional(),
      dialect: name.default('sqlite'),
      recordSeconds: z.number().positive().default(10),
      /** Of one tree. */
      seconds: z.number().positive().default(600),
      /** Commits between two points. Default: as many as make 20 points. */
      every: z.int().min(1).optional(),
    })
    .optional(),
  /** Makes a tree ready to be scored; one that it fails on does not build. */
  build: name.optional(),
  /** Shares of the tests, of which is told when they were first passed. */
  thresholds: z.array(z.number().min(0).max(1)).default([...publishedThresholds]),
  /** Directories with sources that the result is compared with; agents never see them. */
  references: z.array(name).default([]),
  endpoints: part.default({}),
  models: part,
  prices: z.array(z.unknown()).default([]),
  mixes: z.record(plainName, mix).default({}),
  /** Each of these models as planner with each of them as worker, as mixes `PLANNER+WORKER`. */
  matrix: z.array(name).default([]),
  /** Of every arm. */
  swarm: part.default({}),
  /** Names of presets, `mechanisms` for one arm without each of them, or arms of one's own. */
  arms: z.array(z.union([name, arm])).min(1),
});

export type ExperimentForm = z.output<typeof schema>;
export type ArmForm = z.output<typeof arm>;
export type Mix = z.output<typeof mix>;

/** An experiment as its file says it, with paths made whole. */
export interface Experiment extends Omit<ExperimentForm, 'goal' | 'tree' | 'references'> {
  /** Directory of its file: relative paths start there. */
  readonly here: string;
  /** The text. */
  readonly goal: string;
  readonly tree: string | undefined;
  readonly references: readonly string[];
  /** Variables that the file names as `${NAME}` and that hold nothing. */
  readonly unset: readonly string[];
}

/** Fields that hold the whole of a run, which an arm or `swarm` must not say anew: every arm has the same. */
const reserved = ['endpoints', 'models', 'prices', 'roles', 'budget', 'score', 'record'];

/** Errors: `UnreadableError`, one line with the field that is wrong. */
export async function loadExperiment(file: string, env: NodeJS.ProcessEnv): Promise<Experiment> {
  const path = resolve(file);
  const wrong = (says: string): UnreadableError => new UnreadableError(`${file}: ${says}`);
  if (!existsSync(path)) throw wrong('there is no such file');
  const value = await loadConfig(path).catch((error: unknown) => {
    throw new UnreadableError(error instanceof Error ? error.message : String(error));
  });
  const { filled, unset } = withVariables(value, env);
  const parsed = schema.safeParse(filled);
  if (!parsed.success) throw wrong(saysOf(parsed.error.issues, schema));
  const form = parsed.data;
  const fault = faultOf(form);
  if (fault !== undefined) throw wrong(fault);
  const here = dirname(path);
  const { tree, goal, references, prompts } = form;
  for (const [kind, paths] of [
    ['file', [goal, form.documentation?.script]],
    ['directory', [tree, prompts, ...references]],
  ] as const) {
    for (const one of paths.flatMap((given) => given ?? [])) {
      const found = statSync(resolve(here, one), { throwIfNoEntry: false });
      if (found === undefined) throw wrong(`'${one}' is not there, beside the file`);
      if (found.isDirectory() !== (kind === 'directory')) throw wrong(`'${one}' is no ${kind}`);
    }
  }
  return {
    ...form,
    here,
    unset,
    goal: readFileSync(resolve(here, goal), 'utf8'),
    tree: tree === undefined ? undefined : resolve(here, tree),
    references: references.map((one) => resolve(here, one)),
  };
}

/** What the form alone does not say. */
function faultOf({ arms, mixes, matrix, models, swarm, network, score, build }: ExperimentForm): string | undefined {
  const [isCommand, isEngine] = [score?.command !== undefined, score?.corpus !== undefined && score.engine !== undefined]; // prettier-ignore
  if (score !== undefined && isCommand === isEngine) return 'score: give command, or corpus and engine';
  if (score === undefined && build !== undefined) return 'build: without a score nothing is built';
  const known = Object.keys(models);
  for (const [mixName, roles] of Object.entries(mixes)) {
    const strange = Object.entries(roles).find(([, model]) => model !== undefined && !known.includes(model));
    if (strange !== undefined) return `mixes.${mixName}.${strange[0]}: there is no model '${strange[1]}'`;
  }
  const strange = matrix.find((model) => !known.includes(model));
  if (strange !== undefined) return `matrix: there is no model '${strange}'`;
  if (Object.keys(mixes).length === 0 && matrix.length === 0) return 'mixes: neither a mix nor a matrix is given';
  const parts = [['swarm', swarm], ...arms.flatMap((one, at) => (typeof one === 'string' ? [] : [[`arms.${at}.swarm`, one.swarm] as const]))] as const; // prettier-ignore
  for (const [where, given] of parts) {
    const key = Object.keys(given).find((one) => reserved.includes(one));
    if (key !== undefined) return `${where}.${key}: it stands at the top of the file, the same for every arm`;
    const { commands, bounds } = given as { commands?: { mode?: unknown }; bounds?: { minutes?: unknown } };
    if (bounds?.minutes !== undefined) return `${where}.bounds.minutes: every arm has the same, budget.minutes`;
    if (network === 'off' && commands?.mode === 'open')
      return `${where}.commands.mode: 'open' has a network; with network 'off' it is 'sandbox', 'auto' or 'off'`;
  }
  const command = Object.entries(models).find(([, one]) => (one as { kind?: unknown }).kind === 'command');
  if (network === 'off' && command !== undefined)
    return `models.${command[0]}: nothing keeps a command off the network; say network 'on', or choose another model`;
  return undefined;
}

/** Puts variables in: `${NAME}`, in any text of the file. One that is not set is told of and leaves a placeholder. */
function withVariables(value: unknown, env: NodeJS.ProcessEnv): { filled: unknown; unset: string[] } {
  const unset = new Set<string>();
  const fill = (one: unknown): unknown => {
    if (typeof one === 'string') {
      return one.replaceAll(/\$\{([A-Z][A-Z0-9_]*)\}/g, (whole, variable: string) => {
        const found = env[variable];
        if (found) return found;
        unset.add(variable);
        return whole === one && variable.endsWith('URL') ? 'http://unset.invalid/v1' : `unset-${variable}`;
      });
    }
    if (Array.isArray(one)) return one.map(fill);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, fill(inner)]));
  };
  return { filled: fill(value), unset: [...unset] };
}
