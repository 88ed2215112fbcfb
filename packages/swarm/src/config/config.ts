import { resolve } from 'node:path';
import { z } from 'zod';
import { mechanisms } from '../core/coordination.ts';
import { greenPolicies } from '../core/green.ts';
import { sights } from '../core/lens.ts';
import { defaultThrashing } from '../state/thrashing.ts';
import { toolCaches } from '../command/tool-caches.ts';
import { faultOfMinds, mindFields, type MindModel } from './minds.ts';
import { saysOf } from './schema-issue.ts';

const name = z.string().min(1);
const count = z.int().min(1);
const amount = z.number().min(0);
const bound = z.union([amount, z.literal('unlimited')]);
const wholeBound = z.union([z.int().min(0), z.literal('unlimited')]);

const budget = z.strictObject({
  /** US dollars of the whole run. */
  usd: bound.default('unlimited'),
  tokens: wholeBound.default('unlimited'),
  /** Of agents' time, summed. */
  agentMinutes: bound.default('unlimited'),
});

const bounds = z.strictObject({
  /** Workers and mergers at once. */
  agents: z.int().min(1).max(10_000).default(8),
  /** In all, each with its share of the workers. */
  processes: z.int().min(1).max(64).default(1),
  /** Of this process; then the run stops, to be resumed. */
  minutes: bound.default('unlimited'),
  tasks: count.default(100_000),
  planners: count.default(16),
  leaseMinutes: z.number().positive().default(30),
  taskAttempts: count.default(3),
  mergeAttempts: count.default(3),
  fruitlessTasks: count.default(50),
  outputTokens: count.default(8192),
  /** A run whose conflicts outgrow its work stops, to be resumed. */
  thrashing: z
    .union([
      z.strictObject({
        window: count.default(defaultThrashing.window),
        growing: count.default(defaultThrashing.growing),
        conflictsPer100Lines: amount.default(defaultThrashing.conflictsPer100Lines),
      }),
      z.literal('off'),
    ])
    .prefault({}),
  /** Turns of one agent, by role; default: the role's own. */
  turns: z
    .strictObject({
      planner: count.optional(),
      worker: count.optional(),
      merger: count.optional(),
      reconciler: count.optional(),
      decomposer: count.optional(),
      reviewer: count.optional(),
      peer: count.optional(),
    })
    .prefault({}),
});

const stage = z.strictObject({
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'letters, digits, . _ - only'),
  /** What is wanted of it; the goal stands before it. */
  brief: z.string(),
  scope: z.array(name).default([]),
  check: name.optional(),
});

const topology = z.discriminatedUnion('kind', [
  /** A planner splits the goal; planners below it as far as `depth`. */
  z.strictObject({
    kind: z.literal('tree'),
    depth: z.int().min(0).max(1000).default(3),
    fanOut: z.int().min(1).default(1000),
  }),
  /** One worker has the goal as its task. */
  z.strictObject({ kind: z.literal('solo') }),
  /** Equals that claim what they do. */
  z.strictObject({ kind: z.literal('peers'), count: count.default(8) }),
  /** One worker after the other, each shown what those before it came to. */
  z.strictObject({ kind: z.literal('pipeline'), stages: z.array(stage).min(1) }),
]);

const onOff = z.enum(['on', 'off']);

const commands = z.strictObject({
  /** `auto`: in bubblewrap where it works here, else none; `open`: with what this user may do. */
  mode: z.enum(['auto', 'sandbox', 'open', 'off']).default('auto'),
  /** NAMES of environment variables that commands get besides the harmless ones. */
  env: z.array(name).default([]),
  seconds: z.number().positive().default(600),
  memoryMb: count.default(4096),
  outputBytes: count.default(32_000),
  /** Default: as many as there are processors. */
  atOnce: count.optional(),
  /** Caches of tools on whose locks agents would wait for one another: each agent has its own. */
  caches: z
    .strictObject({
      /** Tools of which all share the user's. */
      share: z.array(z.enum(toolCaches.map(({ tool }) => tool))).default([]),
      /** Further ones, by the variable that leads the tool there. */
      own: z
        .record(
          z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable'),
          z.strictObject({
            /** The user's own; default: what the variable says. */
            from: z
              .string()
              .regex(/^(\/|~\/)/, 'an absolute path, or one that begins with ~/')
              .optional(),
            /** How an agent's begins: as a copy, as links to its entries, or empty. */
            seed: z.enum(['copy', 'links', 'empty']).default('copy'),
          }),
        )
        .default({}),
    })
    .prefault({}),
  /** What builds leave that a new agent's directory begins with: paths from the root of the tree, `*` is any name. */
  artefacts: z
    .array(z.string().regex(/^(?!\.{1,2}(\/|$))[^/]+(\/(?!\.{1,2}(\/|$))[^/]+)*$/, 'a path within the tree'))
    .default([]),
  /** Where agents' directories are made; default: the system's place for temporary files. */
  dir: name.optional(),
});

const schema = z.strictObject({
  ...mindFields,
  budget: budget.prefault({}),
  bounds: bounds.prefault({}),
  topology: topology.prefault({ kind: 'tree' }),
  coordination: z
    .strictObject(
      Object.fromEntries(mechanisms.map((each) => [each, onOff.default('on')])) as Record<
        (typeof mechanisms)[number],
        z.ZodDefault<typeof onOff>
      >,
    )
    .prefault({}),
  /** Command that proves the tree: a task that names no check of its own is done where it passes. */
  check: name.optional(),
  /** `required`: a task names a command that proves it, or says why there is none. */
  checks: z.enum(['required', 'optional']).default('required'),
  /** What a person approves (`mound swarm approve`) before it is done: what the goal's planner hands out. */
  approve: z.enum(['nothing', 'delegations']).default('nothing'),
  /** Command that prints a number; the last one counts. Run before and after the run; agents are not told. */
  score: name.optional(),
  commands: commands.prefault({}),
  /** OpenTelemetry spans, where its API is installed; `content`: with what agents say and are told. */
  telemetry: z.strictObject({ content: onOff.default('off') }).prefault({}),
  guide: z.strictObject({ folder: name.default('field-guide'), lines: count.default(80) }).optional(),
  /** What keeps the tag `green` while the run goes on. */
  green: z
    .strictObject({
      /** For /bin/sh, where and as workers' commands run; exit code 0: good, 125: cannot be tried, else bad. */
      command: name,
      /** It is run when so many landings have not been looked at, or one of them waits for so long. */
      everyCommits: count.default(20),
      everyMs: count.default(60_000),
      /** What becomes of a landing that broke it. */
      policy: z.enum(greenPolicies).default('report'),
      /** It has to fail so often in a row before a landing is blamed. */
      runs: z.int().min(1).max(10).default(2),
      /** Of one run; default: as of commands. */
      seconds: z.number().positive().optional(),
    })
    .optional(),
  /** Who looks at what landed. */
  review: z
    .strictObject({
      /** What a blocking finding leads to: a task that looks into it, or the landing taken back. */
      onBlocking: z.enum(['task', 'revert']).default('task'),
      lenses: z
        .array(
          z.strictObject({
            name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'small letters, digits and - only, at most 40'),
            sees: z.enum(sights),
            /** One of `models`; default: the reviewer's. */
            model: name.optional(),
            persona: z.string().default(''),
            /** Paths, or directories, of which it reviews changes; empty: all. */
            paths: z.array(name).default([]),
            rate: z.number().min(0).max(1).default(0.1),
          }),
        )
        .min(1),
    })
    .optional(),
});

/** What a configuration file may hold. */
export type SwarmConfig = z.input<typeof schema>;
/** With every default filled in. */
export type EffectiveConfig = z.output<typeof schema>;

/** Types a configuration; gives it back as it is. */
export const defineConfig = (config: SwarmConfig): SwarmConfig => config;

/** Relative paths start at `dir`. Errors: `TypeError`, one line with the field that is wrong. */
export function parseConfig(value: unknown, dir: string): EffectiveConfig {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new TypeError(saysOf(parsed.error.issues, schema));
  const config = parsed.data;
  const strange = config.review?.lenses.find(({ model }) => model !== undefined && config.models[model] === undefined);
  const isOff = config.green !== undefined && config.commands.mode === 'off';
  const fault =
    (isOff ? "green: its command runs as workers' commands do, and commands.mode is 'off'" : undefined) ??
    faultOfMinds(config) ??
    (strange && `review.lenses: there is no model '${strange.model}'`);
  if (fault !== undefined) throw new TypeError(fault);
  const { record } = config;
  const models = Object.entries(config.models).map(([key, one]): [string, MindModel] => [key, withPaths(one, dir)]);
  const place = config.commands.dir;
  return {
    ...config,
    models: Object.fromEntries(models),
    commands: { ...config.commands, ...(place !== undefined && { dir: resolve(dir, place) }) },
    ...(record !== undefined && { record: resolve(dir, record) }),
  };
}

function withPaths(one: MindModel, dir: string): MindModel {
  switch (one.kind) {
    case 'endpoint':
      return one;
    case 'command':
      return one.dir === undefined ? one : { ...one, dir: resolve(dir, one.dir) };
    case 'mailbox':
      return { ...one, dir: resolve(dir, one.dir) };
    case 'scripted':
      return { ...one, module: resolve(dir, one.module) };
    case 'replay':
      return { ...one, file: resolve(dir, one.file) };
  }
}
