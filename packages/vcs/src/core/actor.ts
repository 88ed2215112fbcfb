import type { Author } from './intent.ts';

/** Whether two authors are one who acts: by agent id where there is one, else by name and kind. */
export const isSameActor = (a: Author, b: Author): boolean =>
  a.agent !== undefined || b.agent !== undefined ? a.agent === b.agent : a.name === b.name && a.kind === b.kind;

/** By which name an author owns a freeze: the agent's id, else the name. */
export const actorOf = ({ agent, name }: Author): string => agent ?? name;
