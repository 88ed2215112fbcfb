import { markOf, type HotEdit } from './hot-edits.ts';

const marksIn = (content: Buffer): string[] =>
  content
    .toString('utf8')
    .split('\n')
    .flatMap((line) => markOf(line) ?? []);

const marksOfEdit = (edit: HotEdit): string[] => edit.texts.flatMap((text) => markOf(text) ?? []);

/** True where every line of the edit stands in the content. */
export function holdsEdit(content: Buffer, edit: HotEdit): boolean {
  const held = new Set(marksIn(content));
  return marksOfEdit(edit).every((mark) => held.has(mark));
}

/** What one file on the trunk says of the edits that were made to it. */
export interface FileLineage {
  /** Marks that stand in the file more than once: a merge has doubled a line. */
  readonly doubled: readonly string[];
  /** Every line of the edit stands here, or was replaced by an edit that had seen it and is itself accounted for. */
  accountsFor(edit: HotEdit): boolean;
  /** Some line of the edit stands here. */
  shows(edit: HotEdit): boolean;
}

/**
 * Remembers which line each edit replaced. A line that is missing at the end is
 * lost, unless the line that stands in its place descends from it: whoever wrote
 * that one had seen it.
 */
export class Lineage {
  /** From a line's mark to that of the line whose place it took. */
  readonly #replaced = new Map<string, string>();

  /** Makes the edit on the content that its agent has seen. */
  rewrite(edit: HotEdit, seen: Buffer): Buffer {
    const lines = seen.toString('utf8').split('\n');
    for (const [at, text] of edit.texts.entries()) {
      const [before, mark] = [markOf(lines[edit.line + at] ?? ''), markOf(text)];
      if (before !== undefined && mark !== undefined) this.#replaced.set(mark, before);
      lines[edit.line + at] = text;
    }
    return Buffer.from(lines.join('\n'));
  }

  read(content: Buffer): FileLineage {
    const standing = marksIn(content);
    const shown = new Set(standing);
    const accounted = new Set<string>();
    for (const mark of standing) {
      for (let at: string | undefined = mark; at !== undefined && !accounted.has(at); at = this.#replaced.get(at)) {
        accounted.add(at);
      }
    }
    return {
      doubled: standing.filter((mark, at) => standing.indexOf(mark) !== at),
      accountsFor: (edit) => marksOfEdit(edit).every((mark) => accounted.has(mark)),
      shows: (edit) => marksOfEdit(edit).some((mark) => shown.has(mark)),
    };
  }
}
