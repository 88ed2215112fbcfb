import { joinLines, mergeLines, splitLines } from '@mound/vcs';

const isText = (bytes: Buffer): boolean => !bytes.includes(0) && Buffer.from(bytes.toString('utf8')).equals(bytes);

/** The lines of `record` that stand where lines `start`, `count` of `from` stood; edits that touch them included. */
function linesInstead(from: readonly string[], record: readonly string[], start: number, count: number): string[] {
  const taken: string[] = [];
  const end = start + count;
  for (const region of mergeLines(from, from, record)) {
    const { base, incoming } = region;
    const baseEnd = base.start + base.count;
    if (region.kind === 'stable') {
      const first = Math.max(start, base.start);
      const last = Math.min(end, baseEnd);
      for (let line = first; line < last; line++) taken.push(record[incoming.start + line - base.start] ?? '');
    } else if (base.start <= end && baseEnd >= start) {
      taken.push(...record.slice(incoming.start, incoming.start + incoming.count));
    }
  }
  return taken;
}

/**
 * A conflict's result as a merger makes it that may look at the record for the
 * conflicted hunks only: elsewhere the sides are merged as they merge. Where a
 * side is absent or no text, the whole path is one hunk. null: deleted.
 */
export function resolveFromRecord(
  sides: {
    readonly base?: Buffer | undefined;
    readonly current?: Buffer | undefined;
    readonly incoming?: Buffer | undefined;
  },
  record: Buffer | undefined,
): Buffer | null {
  const { base, current, incoming } = sides;
  if (record === undefined) return null;
  if (!current || !incoming || ![base, current, incoming, record].every((side) => side === undefined || isText(side))) {
    return record;
  }
  const lines = { current: splitLines(current), incoming: splitLines(incoming), record: splitLines(record) };
  const result: string[] = [];
  for (const region of mergeLines(base ? splitLines(base) : [], lines.current, lines.incoming)) {
    if (region.kind === 'conflict') {
      result.push(...linesInstead(lines.current, lines.record, region.current.start, region.current.count));
    } else {
      const side = region.kind === 'incoming' ? 'incoming' : 'current';
      result.push(...lines[side].slice(region[side].start, region[side].start + region[side].count));
    }
  }
  return Buffer.from(joinLines(result));
}
