import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentFor } from '../command/environment.ts';
import { toolLimits } from '../command/run-command.ts';
import { detectSandbox, type Sandbox } from '../command/sandbox.ts';
import { privateCaches } from '../command/tool-caches.ts';
import { isUnlimited, type Bound, type Cap } from '../core/amount.ts';
import type { GreenSettings } from '../core/green.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';
import type { TaskId } from '../core/ids.ts';
import type { ReviewPolicy } from '../core/lens.ts';
import type { Role } from '../core/role.ts';
import { shippedRoles } from '../roles/roles.ts';
import type { CommandSettings } from '../runtime/command-room.ts';
import type { GivenTask, SwarmLimits, SwarmOptions } from '../runtime/run-options.ts';
import type { EffectiveConfig } from './config.ts';
import type { Layer } from './layers.ts';
import { lensModel } from './make-models.ts';

/** What a configuration makes of a run, beside its minds. */
export type RunSettings = Pick<SwarmOptions, 'agentsMax' | 'limits' | 'policy' | 'roles' | 'settings'> & {
  /** Where no planner is to split the goal. */
  readonly tasks?: readonly GivenTask[];
  readonly budget: Partial<Cap>;
};

const finite = (bound: number | 'unlimited'): number => (bound === 'unlimited' ? Number.POSITIVE_INFINITY : bound);

export function settingsOf(config: EffectiveConfig, goal: string): RunSettings {
  const { bounds, topology, check, checks, approve, guide, commands, score, green } = config;
  const tasks = tasksOf(config, goal);
  const limits: Partial<SwarmLimits> = {
    wallClockMs: finite(bounds.minutes) * 60_000,
    tasksMax: bounds.tasks,
    plannersMax: bounds.planners,
    leaseMs: bounds.leaseMinutes * 60_000,
    taskAttemptsMax: bounds.taskAttempts,
    mergeAttemptsMax: bounds.mergeAttempts,
    fruitlessTasksMax: bounds.fruitlessTasks,
    outputTokensMax: bounds.outputTokens,
    ...(topology.kind === 'tree' && { depthMax: topology.depth, fanOutMax: topology.fanOut }),
  };
  const { mode, env, seconds, memoryMb, caches, artefacts } = commands;
  const hasCaches = caches.share.length > 0 || Object.keys(caches.own).length > 0;
  // Topology and commands have no other place in a run's record.
  const more = {
    // Bounds of a tree are among the limits.
    topology: topology.kind === 'tree' ? { kind: topology.kind } : topology,
    ...(score !== undefined && { score }),
    commands: {
      mode,
      env,
      seconds,
      memoryMb,
      ...(hasCaches && { caches }),
      ...(artefacts.length > 0 && { artefacts }),
    },
    turns: bounds.turns,
  };
  return {
    agentsMax: bounds.agents,
    budget: budgetOf(config),
    limits,
    roles: rolesOf(config),
    policy: {
      checks,
      approve,
      coordination: config.coordination,
      thrashing: bounds.thrashing === 'off' ? false : bounds.thrashing,
      ...(check !== undefined && { check }),
      ...(green !== undefined && { green: greenOf(green) }),
      ...(guide !== undefined && { guide: { folder: guide.folder, linesMax: guide.lines } }),
      ...(config.review !== undefined && { review: reviewOf(config.review) }),
    },
    settings: JSON.parse(JSON.stringify(more)) as JsonObject,
    ...(tasks !== undefined && { tasks }),
  };
}

const greenOf = ({ seconds, ...green }: NonNullable<EffectiveConfig['green']>): GreenSettings => ({
  ...green,
  ...(seconds !== undefined && { seconds }),
});

const reviewOf = ({ onBlocking, lenses }: NonNullable<EffectiveConfig['review']>): ReviewPolicy => ({
  onBlocking,
  lenses: lenses.map(({ paths, model, ...lens }) => ({ ...lens, model: lensModel(model), appliesTo: paths })),
});

/** The same back from a run's record. */
function reviewIn(recorded: unknown): JsonValue | undefined {
  if (recorded === undefined) return undefined;
  const { onBlocking, lenses } = recorded as ReviewPolicy;
  const back = lenses.map(({ appliesTo: paths, model, ...lens }) => ({
    ...lens,
    paths,
    ...(model.startsWith('lens/') && { model: model.slice('lens/'.length) }),
  }));
  return { onBlocking, lenses: back };
}

/** Only what is bounded: at a resume the rest stays as the run has it. */
function budgetOf({ budget: { usd, tokens, agentMinutes } }: EffectiveConfig): Partial<Cap> {
  const times = (bound: number | 'unlimited', factor: number): Bound =>
    bound === 'unlimited' ? bound : Math.round(bound * factor);
  const cap = { nanoUsd: times(usd, 1e9), tokens, ms: times(agentMinutes, 60_000) };
  if (isUnlimited(cap)) return {};
  return Object.fromEntries(Object.entries(cap).filter(([, bound]) => bound !== 'unlimited'));
}

/** The shipped roles with the turns and the minds that were asked for. */
function rolesOf({ bounds: { turns }, roles }: EffectiveConfig): Record<string, Role> {
  const changed = Object.entries(shippedRoles()).map(([name, role]): [string, Role] => {
    const maxTurns = turns[name as keyof typeof turns] ?? role.maxTurns;
    const model = name === 'peer' && roles.peer !== undefined ? 'peer' : role.model;
    return [name, { ...role, maxTurns, model }];
  });
  return Object.fromEntries(changed);
}

function tasksOf({ topology }: EffectiveConfig, goal: string): GivenTask[] | undefined {
  const title = (goal.trim().split('\n')[0] ?? '').slice(0, 100);
  const task = (id: string, brief: string, more: Partial<GivenTask> = {}): GivenTask => ({
    id: id as TaskId,
    title,
    scope: [],
    brief,
    ...more,
  });
  switch (topology.kind) {
    case 'tree':
      return undefined;
    case 'solo':
      return [task('solo', goal)];
    case 'peers':
      return Array.from({ length: topology.count }, (_, at) => task(`peer-${at + 1}`, goal, { role: 'peer' }));
    case 'pipeline':
      return topology.stages.map(({ id, brief, scope, check: own }, at) =>
        task(id, `The goal of all stages: ${goal}\n\nYour stage, ${id}: ${brief}`, {
          title: id,
          scope,
          after: topology.stages.slice(0, at).map((before) => before.id as TaskId),
          ...(own !== undefined && { check: own }),
        }),
      );
  }
}

/** Where commands of workers run, or undefined with the reason why there are none. */
export function commandsOf(
  { commands, check, green }: EffectiveConfig,
  run: string,
  env: NodeJS.ProcessEnv,
): { readonly settings?: CommandSettings & { readonly directory: string }; readonly says?: string } {
  const { mode, seconds, memoryMb, outputBytes, atOnce, dir = tmpdir() } = commands;
  if (mode === 'off') return {};
  const sandbox: Sandbox = mode === 'open' ? 'none' : detectSandbox(dir);
  if (sandbox === 'none' && mode !== 'open') {
    const says = "bubblewrap does not work here; commands.mode 'open' (--worker-commands open) runs them without it";
    if (mode === 'sandbox' || check !== undefined || green !== undefined)
      throw new TypeError(`workers cannot run commands: ${says}`);
    return { says: `workers run no commands: ${says}` };
  }
  const environment = environmentFor(env, commands.env, {});
  const settings = {
    directory: join(dir, `mound-swarm-${run}`),
    limits: { ...toolLimits, seconds, outputBytesMax: outputBytes, memoryBytesMax: memoryMb * 1024 * 1024 },
    commandsMax: atOnce ?? availableParallelism(),
    sandbox,
    environment,
    caches: privateCaches(commands.caches, env, environment),
    artefacts: commands.artefacts,
  };
  return { settings };
}

/** What a run's record says of how it was configured, for a resume that does not say it again. */
export function recordedLayer(settings: JsonObject): Layer {
  const part = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});
  const [limits, policy, more] = [part(settings['limits']), part(settings['policy']), part(settings['more'])];
  // They stand there as text, for one of them may be infinite.
  const number = (name: string, factor = 1): number | undefined =>
    limits[name] === undefined ? undefined : Number(limits[name]) / factor;
  const topology = part(more['topology']);
  const guide = part(policy['guide']);
  const layer: Layer = {
    bounds: {
      agents: settings['agentsMax'],
      tasks: number('tasksMax'),
      planners: number('plannersMax'),
      leaseMinutes: number('leaseMs', 60_000),
      taskAttempts: number('taskAttemptsMax'),
      mergeAttempts: number('mergeAttemptsMax'),
      fruitlessTasks: number('fruitlessTasksMax'),
      outputTokens: number('outputTokensMax'),
      turns: more['turns'],
      thrashing: policy['thrashing'] === undefined ? 'off' : policy['thrashing'],
    },
    topology:
      topology['kind'] === 'tree'
        ? { kind: 'tree', depth: number('depthMax'), fanOut: number('fanOutMax') }
        : more['topology'],
    coordination: policy['coordination'],
    check: policy['check'],
    checks: policy['checks'],
    approve: policy['approve'],
    score: more['score'],
    commands: more['commands'],
    review: reviewIn(policy['review']),
    green: policy['green'],
    guide: policy['guide'] === undefined ? undefined : { folder: guide['folder'], lines: guide['linesMax'] },
  };
  return JSON.parse(JSON.stringify(layer)) as Layer;
}
