/** How much an entry was of use, and what it has cost. */
export interface NoteUse {
  /** Agents that read it. */
  readonly uses: number;
  /** Estimated tokens of its text where it was read, and of its line of the index wherever that was shown. */
  readonly tokens: number;
  /** Milliseconds since 1970 at which it was last written or read. */
  readonly usedAt: number;
}

/** Of a whole Field Guide. */
export interface GuideUse {
  /** Agents that were shown the index. */
  readonly shown: number;
  readonly tokens: number;
  readonly notes: Readonly<Record<string, NoteUse>>;
}

export const noUse: GuideUse = { shown: 0, tokens: 0, notes: {} };

const addNote = (left: NoteUse | undefined, right: NoteUse): NoteUse => ({
  uses: (left?.uses ?? 0) + right.uses,
  tokens: (left?.tokens ?? 0) + right.tokens,
  usedAt: Math.max(left?.usedAt ?? 0, right.usedAt),
});

export function addUse(left: GuideUse, right: GuideUse): GuideUse {
  const notes: Record<string, NoteUse> = { ...left.notes };
  for (const [slug, use] of Object.entries(right.notes)) notes[slug] = addNote(notes[slug], use);
  return { shown: left.shown + right.shown, tokens: left.tokens + right.tokens, notes };
}

/** Of those entries only. */
export const useOf = (use: GuideUse, slugs: readonly string[]): GuideUse => ({
  ...use,
  notes: Object.fromEntries(Object.entries(use.notes).filter(([slug]) => slugs.includes(slug))),
});

/** Entries that nobody has read for so long; one that nothing is known of is not old. */
export const agedOut = ({ notes }: GuideUse, slugs: readonly string[], before: number): string[] =>
  slugs.filter((slug) => (notes[slug]?.usedAt ?? Infinity) < before);

/** What to take out first: what was read least, of these the oldest. */
export const leastUsed = ({ notes }: GuideUse, slugs: readonly string[]): string[] =>
  slugs.toSorted((a, b) => {
    const [left, right] = [notes[a], notes[b]];
    return (left?.uses ?? 0) - (right?.uses ?? 0) || (left?.usedAt ?? 0) - (right?.usedAt ?? 0);
  });
