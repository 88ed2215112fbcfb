import { wholeNumber, type SuiteOption, type SuiteSize } from '../suite.ts';

export interface SwarmParameters {
  readonly agents: number;
  readonly processes: number;
  /** Of each agent. */
  readonly steps: number;
  readonly rounds: number;
  /** CPU time that the control wastes after each step; more than few steps vary by themselves. */
  readonly controlMs: number;
}

export const swarmSizes: Readonly<Record<SuiteSize, SwarmParameters>> = {
  quick: { agents: 16, processes: 2, steps: 12, rounds: 2, controlMs: 6 },
  default: { agents: 100, processes: 2, steps: 10, rounds: 3, controlMs: 2 },
  full: { agents: 500, processes: 4, steps: 20, rounds: 5, controlMs: 2 },
};

export const swarmOptions: readonly SuiteOption[] = [
  { flags: '--agents <n>', description: 'scripted agents at once', parse: wholeNumber(1, 10_000) },
  { flags: '--processes <n>', description: 'that share them', parse: wholeNumber(1, 64) },
  { flags: '--steps <n>', description: 'of each agent', parse: wholeNumber(1, 30) },
  { flags: '--rounds <n>', description: 'rounds after the warm-up', parse: wholeNumber(1, 100) },
];

/** What the agents of an arm do: whole steps, or turns whose only call has nothing to do. */
export type StepKind = 'step' | 'empty';

/** What is told to each process that works. */
export interface MindOptions {
  readonly [key: string]: string | number;
  readonly kind: StepKind;
  readonly steps: number;
  /** Where it leaves what it measured. */
  readonly dir: string;
}

export const pathOf = (agent: number): string => `agents/file-${agent}.txt`;
/** The file of an agent behind so many steps: 4 KB in all, of which each step writes one line anew. */
export const contentOf = (agent: number, step: number): string => `agent ${agent}\n${lineOf(step)}\n${filler}`;
export const lineOf = (step: number): string => `step ${step}`;

const filler = Array.from({ length: 64 }, (_, at) => `${String(at).padStart(3, '0')} ${'x'.repeat(58)}\n`).join('');
