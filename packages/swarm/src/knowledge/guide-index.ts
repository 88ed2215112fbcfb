import type { Note } from './note.ts';

/** What a new index begins with. */
export const emptyIndex = `# Field Guide

What surprised somebody and will surprise the next one. Each line is an entry: what one sees, and what to do.

`;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
/** Nothing in it may end the link. */
const linkText = (text: string): string => oneLine(text).replaceAll('[', '(').replaceAll(']', ')');

const lineOf = ({ slug, symptom, remedy }: Note): string => `- [${linkText(symptom)}](${slug}.md): ${oneLine(remedy)}`;

const entry = /^\s*[-*] \[[^\]]*\]\(([\w.-]+)\.md\)/;

/** The entry that a line leads to; undefined: none. */
export const slugOfLine = (line: string): string | undefined => entry.exec(line)?.[1];

/** Entries in the order of the index. */
export const slugsOf = (index: string): string[] => index.split('\n').flatMap((line) => slugOfLine(line) ?? []);

/** The index with a note's line: in the place of its old one, else at the end. */
export function withNote(index: string, note: Note): string {
  const text = index === '' ? emptyIndex : index;
  const lines = (text.endsWith('\n') ? text : `${text}\n`).split('\n');
  const at = lines.findIndex((line) => slugOfLine(line) === note.slug);
  if (at >= 0) return lines.with(at, lineOf(note)).join('\n');
  return [...lines.slice(0, -1), lineOf(note), ''].join('\n');
}

export function withoutNotes(index: string, slugs: readonly string[]): string {
  const isGone = (line: string): boolean => slugs.includes(slugOfLine(line) ?? '');
  return index
    .split('\n')
    .filter((line) => !isGone(line))
    .join('\n');
}

/** As agents see it: entries whose evidence has changed say so. */
export function annotated(index: string, changed: ReadonlyMap<string, string>): string {
  return index
    .split('\n')
    .map((line) => {
      const path = changed.get(slugOfLine(line) ?? '');
      return path === undefined ? line : `${line} (doubtful: ${path} has changed since)`;
    })
    .join('\n');
}
