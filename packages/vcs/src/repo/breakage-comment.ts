import { breakageComment, declarationLine, insertComment, type Breakage } from '../breakage/index.ts';
import { changedLines } from '../merge/index.ts';

const textOf = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/\r?\n$/, ''));

/**
 * A file's new text with a comment in its language's syntax, before the declaration that changes first, that says why
 * it breaks what others rely on. The text as it is where it has the comment already, where nothing but it changes,
 * or where its language is not known to have comments.
 */
export function withBreakageComment(
  path: string,
  before: string | undefined,
  after: string,
  breakage: Breakage,
): string {
  const comment = breakageComment(path, breakage);
  if (comment === undefined || after.includes(`@breakage ${breakage.id}`)) return after;
  const lines = after.split(/(?<=\n)/);
  const [first] = changedLines((before ?? '').split(/(?<=\n)/), lines);
  if (first === undefined) return after;
  return insertComment(after, declarationLine(textOf(lines), first.sideStart), comment);
}
