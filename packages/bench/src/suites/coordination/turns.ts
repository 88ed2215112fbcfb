import type { ScriptedTurn } from '@mound/swarm';

export type Call = NonNullable<ScriptedTurn['calls']>[number];

export const call = (name: string, input: Call['arguments']): Call => ({ name, arguments: input });

export const finishing = (status: string, words: object = {}): ScriptedTurn => ({
  calls: [call('finish', { status, ...words })],
});

/** What workers report to their planners, in words that these look for. */
export const reportWords = {
  left: (task: string): string => `the core function still needs the parameter of ${task}`,
  broke: (task: string): string => `the core function was changed for ${task}: its callers have to follow`,
};

const leftPattern = /still needs the parameter of (task\d+)/g;
const brokePattern = /was changed for task\d+: its callers/;

/** Of what a planner was told since its last turn: tasks whose parameter was left, and whether callers have to follow. */
export function reportedIn(text: string): { readonly left: readonly string[]; readonly isBroken: boolean } {
  const left = [...text.matchAll(leftPattern)].map(([, task = '']) => task);
  return { left: [...new Set(left)], isBroken: brokePattern.test(text) };
}
