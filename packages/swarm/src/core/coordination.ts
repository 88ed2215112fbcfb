/** The ways in which a run coordinates its agents; each can be switched off by itself. */
export const mechanisms = [
  /** Two live subtrees, or decisions, never settle the same topic. */
  'split-brain',
  /** A neutral agent settles conflicts; off: they stay open, and the task's planner is told. */
  'merger',
  /** A neutral agent settles decisions that contradict one another, and fights over a file between planners. */
  'reconciler',
  /** Before each request an agent is told of what changed in the files that it has read; its commits say what it had read. */
  'fresh-reads',
  /** Reviewers look at what landed, each through its lens, the more of them the riskier it is. */
  'lenses',
  /** What cites a decision that is missing or superseded is refused, and generated symbols follow the decisions. */
  'references',
  /** Files that are too large or too contended are marked, and work on them waits. */
  'megafiles',
  /** A worker may change what is outside of its scope, with a reason. */
  'breakages',
  /** Agents keep a folder of notes for one another. */
  'field-guide',
  /** A command looks at what landed, and what broke it is found; off where no command is given. */
  'green',
] as const;

/**
 * What no run should do without, and an experiment can, to see what it is for. No configuration file and no flag
 * reaches these; a run without one says so in its record and its first event.
 */
export const safeguards = [
  /** Of two owners of a task only the later can land. Without: one that was taken over works on, and lands. */
  'fences',
  /** Money, tokens and time are reserved and bounded. Without: no bound holds. */
  'budgets',
] as const;

export type Safeguard = (typeof safeguards)[number];

export type Mechanism = (typeof mechanisms)[number];
export type Switch = 'on' | 'off';
/** Every mechanism by name. */
export type Coordination = Readonly<Record<Mechanism, Switch>>;

const allOf = (position: Switch): Coordination =>
  Object.fromEntries(mechanisms.map((name) => [name, position])) as Coordination;

export const allOn: Coordination = allOf('on');
export const allOff: Coordination = allOf('off');

/** All mechanisms, where those not named are on. Errors: `TypeError` for an unknown name or position. */
export function coordinationOf(given: Readonly<Partial<Record<string, unknown>>> = {}): Coordination {
  for (const [name, position] of Object.entries(given)) {
    if (!(mechanisms as readonly string[]).includes(name))
      throw new TypeError(`coordination.${name}: there is no such mechanism; there are ${mechanisms.join(', ')}`);
    if (position !== 'on' && position !== 'off')
      throw new TypeError(`coordination.${name} is ${JSON.stringify(position)}, neither 'on' nor 'off'`);
  }
  return { ...allOn, ...(given as Partial<Coordination>) };
}
