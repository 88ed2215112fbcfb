import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StepName } from '../../../packages/vcs/src/core/steps.ts';
import { start, type Finished } from '../process.ts';
import { Judge, type Landing, type Line, type Observed, type Verdict } from './judge.ts';
import { emptyText } from './slots.js';

/** What is run under the harness; `process.js` says what its functions do. */
interface Subject {
  createSubject(dir: string, files: ReadonlyMap<string, string>): Promise<void>;
  historyOf(dir: string): Promise<Landing[]>;
  filesOf(dir: string): Promise<Map<string, string>>;
}

export interface Plan {
  readonly subject: 'mound' | 'isomorphic-git';
  readonly dir: string;
  readonly processes: number;
  /** Agents in each process that work at once. */
  readonly agents: number;
  /** Intents of each agent. */
  readonly intents: number;
  readonly paths: number;
  readonly seed: number;
  /** The process `process` dies at the nth time that it reaches a step. */
  readonly death?: { readonly process: number; readonly step: StepName; readonly nth: number };
}

export interface Run {
  readonly finished: readonly Finished[];
  readonly observed: Observed;
  readonly verdict: Verdict;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Whole lines only: a kill may cut the last one. */
const linesOf = (file: string): Line[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

/** Runs the plan's processes at once, and judges what they were told once all have ended. */
export async function runPlan(plan: Plan): Promise<Run> {
  const { dir, processes, agents, intents, seed, death } = plan;
  const script = here(`./${plan.subject}-subject.js`);
  const subject = (await import(script)) as Subject;
  const paths = Array.from({ length: plan.paths }, (_, at) => `file-${at}`);
  const fillers = new Map(paths.map((path) => [path, `${path} is filled with this text, here at`]));
  const slots = processes * agents;
  await subject.createSubject(dir, new Map([...fillers].map(([path, filler]) => [path, emptyText(slots, filler)])));
  const logFiles = Array.from({ length: processes }, (_, at) => join(dir, `log-${at}`));
  const running = logFiles.map((logFile, at) => {
    const die = death?.process === at ? { step: death.step, nth: death.nth } : undefined;
    const common = { subject: script, dir, logFile, agents, intents, paths, seed, die };
    const options = { ...common, name: `w${at}`, firstSlot: at * agents };
    return start(process.execPath, [here('./process.js'), JSON.stringify(options)]);
  });
  const finished = await Promise.all(running.map((one) => one.finished));
  const [history, files] = [await subject.historyOf(dir), await subject.filesOf(dir)];
  const observed = { lines: logFiles.flatMap(linesOf), history, files, slots, fillers };
  return { finished, observed, verdict: new Judge(observed).judge() };
}
