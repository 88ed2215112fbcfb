import { layered, mechanisms, parseConfig, type EffectiveConfig, type Safeguard } from '@mound/swarm';

import { UnreadableError } from '../suites/suite.ts';
import type { ArmForm, Experiment, Mix } from './experiment-file.ts';
import { presetNames, presetOf, unsafeWithout } from './presets.ts';

/** Where the minds of a cell come from: figures that depend on their judgement are told of the first two alone. */
export type Minds = 'live' | 'recorded' | 'scripted';

/** One arm with one mix of models and one seed: one run in a repository of its own. */
export interface Cell {
  /** Its directory's name, too. */
  readonly name: string;
  readonly arm: string;
  readonly mixName: string;
  readonly mix: Mix;
  readonly seed: number;
  readonly config: EffectiveConfig;
  readonly minds: Minds;
  readonly unsafeWithout: readonly Safeguard[];
}

/** What stands in for every model of the file. */
export type StandIn =
  { readonly kind: 'replay'; readonly dir: string } | { readonly kind: 'mailbox'; readonly dir: string };

const agentsDefault = 8;

/** In the order in which they run: every arm of a seed before the next seed. Errors: `UnreadableError`. */
export function cellsOf(experiment: Experiment, standIn?: StandIn): Cell[] {
  const mixes = mixesOf(experiment);
  const arms = armsOf(experiment);
  const seen = new Set<string>();
  const cells: Cell[] = [];
  for (let seed = 1; seed <= experiment.seeds; seed++) {
    for (const arm of arms) {
      for (const mixName of arm.mixes ?? mixes.keys()) {
        const mix = mixes.get(mixName);
        if (mix === undefined) throw new UnreadableError(`arm '${arm.name}': there is no mix '${mixName}'`);
        const name = `${arm.name}.${mixName}.${seed}`.replaceAll(/[, ]+/g, '_');
        if (seen.has(name)) throw new UnreadableError(`two arms are called '${arm.name}'`);
        seen.add(name);
        const config = configOf(experiment, arm, mix, { name, arm: arm.name, mix: mixName, seed }, standIn);
        cells.push({
          name,
          arm: arm.name,
          mixName,
          mix,
          seed,
          config,
          minds: mindsOf(config),
          unsafeWithout: unsafeWithout(arm.preset),
        });
      }
    }
  }
  return cells;
}

function mixesOf({ mixes, matrix }: Experiment): Map<string, Mix> {
  const pairs = matrix.flatMap((planner) =>
    matrix.map((worker): [string, Mix] => [`${planner}+${worker}`, { planner, worker }]),
  );
  return new Map([...Object.entries(mixes), ...pairs]);
}

const bareArm = (name: string): ArmForm => ({ name, preset: name, swarm: {} });

function armsOf({ arms }: Experiment): ArmForm[] {
  return arms.flatMap((arm) => {
    if (arm === 'mechanisms') return mechanisms.map((name) => bareArm(`no-${name}`));
    const form = typeof arm === 'string' ? bareArm(arm) : arm;
    if (!presetNames.includes(form.preset))
      throw new UnreadableError(`arms: there is no preset '${form.preset}'; there are ${presetNames.join(', ')}, mechanisms`); // prettier-ignore
    return [form];
  });
}

interface Place {
  readonly name: string;
  readonly arm: string;
  readonly mix: string;
  readonly seed: number;
}

function configOf(
  experiment: Experiment,
  arm: ArmForm,
  { merger, ...mix }: Mix,
  place: Place,
  standIn: StandIn | undefined,
): EffectiveConfig {
  const { budget, endpoints, models, prices, swarm, here } = experiment;
  const { minutes, ...cap } = budget;
  const given = (swarm['bounds'] as { agents?: number } | undefined)?.agents ?? agentsDefault;
  const minds = standIn === undefined ? { endpoints, models: placed(models, place) } : { models: standInFor(models, place, standIn) }; // prettier-ignore
  const layers = [
    { bounds: { agents: given } },
    swarm,
    presetOf(arm.preset, given) ?? {},
    arm.swarm,
    {
      ...minds,
      prices,
      roles: { ...mix, merger: merger ?? mix.planner },
      budget: cap,
      bounds: { minutes },
    },
  ];
  try {
    return parseConfig(layered(layers as never), here);
  } catch (error) {
    throw new UnreadableError(`arm '${arm.name}': ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** `{cell}`, `{arm}`, `{mix}` and `{seed}` in texts of a model; a text that is nothing but `{seed}` becomes the number. */
function placed(value: unknown, { name, arm, mix, seed }: Place): unknown {
  const fill = (one: unknown): unknown => {
    if (one === '{seed}') return seed;
    if (typeof one === 'string') {
      const names: Readonly<Record<string, string>> = { cell: name, arm, mix, seed: String(seed) };
      return one.replaceAll(/\{(cell|arm|mix|seed)\}/g, (_, word: string) => names[word] ?? '');
    }
    if (Array.isArray(one)) return one.map(fill);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, fill(inner)]));
  };
  return fill(value);
}

const standInFor = (models: object, { name }: Place, { kind, dir }: StandIn): unknown =>
  Object.fromEntries(
    Object.keys(models).map((model) => [
      model,
      kind === 'replay' ? { kind, file: `${dir}/${name}/cassette.jsonl` } : { kind, dir: `${dir}/${name}` },
    ]),
  );

/** Models that a run may ask, fallbacks included. */
export function modelsAsked({ models, roles, review }: EffectiveConfig): EffectiveConfig['models'][string][] {
  const names = new Set([...Object.values(roles), ...(review?.lenses ?? []).map(({ model }) => model)]);
  const all = [...names].flatMap((name) => (name === undefined ? [] : [name, ...(models[name]?.fallbacks ?? [])]));
  return [...new Set(all)].flatMap((name) => models[name] ?? []);
}

function mindsOf(config: EffectiveConfig): Minds {
  const kinds = modelsAsked(config).map(({ kind }) => kind);
  if (kinds.includes('scripted')) return 'scripted';
  return kinds.every((kind) => kind === 'replay') ? 'recorded' : 'live';
}
