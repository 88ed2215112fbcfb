import { digest } from '../format/hash.ts';

export type DecisionStatus = 'active' | 'superseded' | 'proposed';

export const decisionStatuses: readonly DecisionStatus[] = ['active', 'superseded', 'proposed'];

/** One settled choice, as its document states it. */
export interface Decision {
  readonly id: string;
  readonly title: string;
  /** What it decides, by name. */
  readonly topics: readonly string[];
  /** Who made it: an agent, a task or a person. */
  readonly owner: string;
  readonly status: DecisionStatus;
  /** Ids of decisions whose place it takes. */
  readonly supersedes: readonly string[];
  readonly text: string;
}

/** Where design documents stand. */
export const designDirectory = 'design';

const idBytesMax = 64;

/** As it may stand in references. */
export const idPattern = '[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?';
const wholeId = new RegExp(`^${idPattern}$`);

export const isDecisionId = (text: string): boolean => text.length <= idBytesMax && wholeId.test(text);

/** Prefix of the symbols that code cites decisions by. */
export const symbolPrefix = 'DECISION_';

/** The symbol of a decision in generated code; ids that give one symbol cannot stand side by side. */
export const symbolOf = (id: string): string => `${symbolPrefix}${id.toUpperCase().replaceAll(/[.-]/g, '_')}`;

/** Where a new decision's document goes. */
export const decisionPath = (id: string): string => `${designDirectory}/${id}.md`;

/** Whether a path is a design document's. */
export function isDesignPath(path: string): boolean {
  return (
    path.startsWith(`${designDirectory}/`) &&
    path.endsWith('.md') &&
    path !== 'README.md' &&
    !path.endsWith('/README.md')
  );
}

const canonicalText = (text: string): string =>
  text
    .split(/\r\n|\n/)
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+/, '')
    .replace(/\n+$/, '');

/** What `@decision ID@HASH` names: another one once the id, the title or the text has changed. */
export function hashOfDecision({ id, title, text }: Pick<Decision, 'id' | 'title' | 'text'>): string {
  const canonical = `mound decision 1\0${id}\0${title}\0${canonicalText(text)}`;
  return digest(Buffer.from(canonical), 4).toString('hex');
}
