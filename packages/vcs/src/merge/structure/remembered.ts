import type { Outline, Outliner } from './outline.ts';

/** Characters of the texts whose outlines are remembered, by grammar and thread. */
const charactersMax = 16 * 1024 * 1024;

/**
 * An outliner that reads a text once: the base and the current side of a merge in
 * a hot file are mostly what the merges before it were made of.
 */
export function remembered(outline: Outliner): Outliner {
  /** The one that was asked for longest ago first. */
  const known = new Map<string, Outline | undefined>();
  let characters = 0;
  return (text) => {
    const isKnown = known.has(text);
    const found = isKnown ? known.get(text) : outline(text);
    if (isKnown) known.delete(text);
    else characters += text.length;
    known.set(text, found);
    for (const oldest of known.keys()) {
      if (characters <= charactersMax) break;
      known.delete(oldest);
      characters -= oldest.length;
    }
    return found;
  };
}
