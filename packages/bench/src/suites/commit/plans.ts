import { agentsOfFew, type Subject } from '../../subjects/subject.ts';
import { HotEdits } from '../../workloads/hot-edits.ts';
import { W1 } from '../../workloads/w1.ts';
import { nameOfPlan, type ArmPlan, type CommitArm } from './arm.ts';
import { HotArm } from './hot-arm.ts';
import { loadFields, type Load } from './load.ts';
import { LoneArm } from './lone-arm.ts';
import { ProcessesArm } from './processes-arm.ts';
import { referenceName, type CommitParameters } from './parameters.ts';

/** The workloads of a run, each made once and shared by all arms that have it. */
export class Workloads {
  readonly #seed: number;
  readonly #w1 = new Map<string, W1>();
  readonly #hot = new Map<string, HotEdits>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  w1({ files, filesPerCommit }: Load): W1 {
    return made(this.#w1, `${files}/${filesPerCommit}`, () => new W1({ files, filesPerCommit, seed: this.#seed }));
  }

  hot({ files, inFlight }: Load): HotEdits {
    return made(this.#hot, `${files}/${inFlight}`, () => new HotEdits({ files, agents: inFlight, seed: this.#seed }));
  }

  prepare(plan: ArmPlan, parent: string, signal: AbortSignal): Promise<CommitArm> {
    const { load } = plan;
    if (load.skew === 'zipf') return HotArm.prepare(plan, this.hot(load), parent, signal);
    const workload = this.w1(load);
    if (load.processes > 1) return ProcessesArm.prepare(plan, workload, parent, signal);
    return LoneArm.prepare(plan, workload, parent, signal);
  }
}

function made<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}

/** The load as a subject can take it; undefined where it cannot. */
function loadFor(subject: Subject, load: Load): Load | undefined {
  if (load.skew === 'zipf') return subject.name === referenceName && load.processes === 1 ? load : undefined;
  if (load.processes > 1 && subject.attach === undefined) return undefined;
  if (subject.pace === 'one-at-a-time') return { ...load, inFlight: load.processes };
  if (subject.pace === 'few-in-flight') return { ...load, inFlight: Math.min(load.inFlight, agentsOfFew) };
  if (load.processes > load.inFlight || load.inFlight % load.processes !== 0) return undefined;
  return load;
}

/** Which subjects are measured under which loads, each pair once. */
export function plansOf(
  { loads, inFlightOfStreams }: CommitParameters,
  subjects: readonly Subject[],
  workloads: Workloads,
): ArmPlan[] {
  const plans = new Map<string, ArmPlan>();
  for (const { load, only } of loads) {
    for (const subject of subjects) {
      if (only !== undefined && !only(subject)) continue;
      // A stream is never one at a time, so it has but one load of its kind.
      const asked = subject.pace === 'stream' ? { ...load, inFlight: inFlightOfStreams } : load;
      const taken = loadFor(subject, asked);
      if (taken === undefined) continue;
      const workload = taken.skew === 'zipf' ? workloads.hot(taken).fields() : workloads.w1(taken).fields();
      const fields = { ...workload, ...loadFields(taken), durability: subject.durability };
      const plan = { subject, load: taken, fields };
      plans.set(nameOfPlan(plan), plan);
    }
  }
  return bySubject([...plans.values()], subjects);
}

const bySubject = (plans: readonly ArmPlan[], subjects: readonly Subject[]): ArmPlan[] =>
  subjects.flatMap((subject) => plans.filter((plan) => plan.subject === subject));
