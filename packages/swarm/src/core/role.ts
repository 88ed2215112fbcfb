export type RoleKind = 'planner' | 'worker' | 'merger' | 'reconciler' | 'decomposer' | 'reviewer';

/** In an order in which each kind that a run needs comes first. */
export const roleKinds: readonly RoleKind[] = ['planner', 'worker', 'merger', 'reconciler', 'decomposer', 'reviewer'];
/** Kinds that take tasks. */
export const takesTasks = (kind: RoleKind): boolean => kind === 'planner' || kind === 'worker';

export type ToolName =
  | 'read'
  | 'search'
  | 'list'
  | 'decide'
  | 'delegate'
  | 'wait'
  | 'inspect'
  | 'ask'
  | 'edit'
  | 'write'
  | 'patch'
  | 'run'
  | 'commit'
  | 'flag'
  | 'note'
  | 'claim'
  | 'board'
  | 'read_conflict'
  | 'resolve'
  | 'settle'
  | 'split'
  | 'verdict'
  | 'finish';

/** Key into the run's `models`. */
export type ModelName = string;

/** The data that defines an agent's powers. */
export interface Role {
  readonly name: string;
  readonly kind: RoleKind;
  readonly prompt: string;
  /** A call of any other tool is answered with a refusal and never run. */
  readonly tools: readonly ToolName[];
  readonly model: ModelName;
  /** A commit that rests on files that have changed since they were read: is noted (default), or refused. */
  readonly onStaleRead?: 'record' | 'reject';
  readonly maxTurns: number;
}

/** A run's roles by name; `planner`, `worker` and `merger` are always there. */
export type Roles = Readonly<Record<string, Role>> & Readonly<Record<RoleKind, Role>>;

/**
 * The most that a role of each kind may hold, whatever its data says: a planner
 * has no tool that changes a file but the Field Guide, a worker none that splits
 * work, a merger none that reaches beyond its conflict, a reconciler and
 * a decomposer none but the one that settles their matter.
 */
export const toolsOfKind: Readonly<Record<RoleKind, readonly ToolName[]>> = {
  planner: ['read', 'search', 'list', 'decide', 'delegate', 'wait', 'inspect', 'ask', 'note', 'finish'],
  worker: [
    'read',
    'search',
    'list',
    'edit',
    'write',
    'patch',
    'run',
    'commit',
    'flag',
    'note',
    'claim',
    'board',
    'finish',
  ],
  merger: ['read_conflict', 'resolve', 'note', 'finish'],
  reconciler: ['read', 'search', 'list', 'read_conflict', 'settle', 'note', 'finish'],
  decomposer: ['read', 'search', 'list', 'split', 'note', 'finish'],
  reviewer: ['read', 'search', 'list', 'note', 'verdict'],
};

/** One line saying what is wrong with a role, or undefined. */
export function faultOfRole(role: Role): string | undefined {
  const stranger = role.tools.find((tool) => !toolsOfKind[role.kind].includes(tool));
  if (stranger !== undefined) return `role '${role.name}' is a ${role.kind} and cannot hold the tool '${stranger}'`;
  const last: ToolName = role.kind === 'reviewer' ? 'verdict' : 'finish';
  if (!role.tools.includes(last)) return `role '${role.name}' needs the tool '${last}'`;
  if (!Number.isInteger(role.maxTurns) || role.maxTurns < 1) return `role '${role.name}': maxTurns is not 1 or more`;
  return undefined;
}

/** Of each kind what `of` says. */
export const eachKind = <T>(of: (kind: RoleKind) => T): Record<RoleKind, T> =>
  Object.fromEntries(roleKinds.map((kind) => [kind, of(kind)])) as Record<RoleKind, T>;
