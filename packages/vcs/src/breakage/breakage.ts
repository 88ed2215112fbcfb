import { digest } from '../format/hash.ts';
import type { Author } from '../core/intent.ts';

/** What somebody broke on purpose, outside of what was given to them. */
export interface Breakage {
  /** 8 hex digits, which stand in the comment that code carries of it. */
  readonly id: string;
  readonly rationale: string;
  readonly author: Author;
  readonly task?: string;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Known before it lands: it follows from who breaks what for which task, and why. */
export function breakageIdOf(rationale: string, author: Author, task: string | undefined): string {
  const who = author.agent ?? author.name;
  return digest(Buffer.from(`mound breakage 1\0${who}\0${task ?? ''}\0${oneLine(rationale)}`), 4).toString('hex');
}

export function breakageOf(rationale: string, author: Author, task: string | undefined): Breakage {
  return { id: breakageIdOf(rationale, author, task), rationale, author, ...(task !== undefined && { task }) };
}

/** One line: what stands in the code. */
export function noteOf({ id, rationale, author, task }: Breakage): string {
  const whose = task === undefined ? '' : `, task ${task}`;
  return `@breakage ${id} by ${author.agent ?? author.name}${whose}: ${oneLine(rationale)}`;
}
