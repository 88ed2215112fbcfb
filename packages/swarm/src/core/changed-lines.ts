/** More text than this is not compared line by line. */
const comparedMax = 256 * 1024;

/** Lines that a text has and the one before it had not, moved lines left out: what a change added or wrote anew. */
export function changedLines(before: string, after: string): number {
  if (before === after) return 0;
  let from = 0;
  const shorter = Math.min(before.length, after.length);
  while (from < shorter && before.charCodeAt(from) === after.charCodeAt(from)) from++;
  from = before.lastIndexOf('\n', from - 1) + 1;
  let tail = 0;
  const most = shorter - from;
  while (tail < most && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail))
    tail++;
  const [old, fresh] = [
    linesOf(before.slice(from, before.length - tail)),
    linesOf(after.slice(from, after.length - tail)),
  ];
  if (before.length + after.length > comparedMax) return fresh.length;
  const left = new Map<string, number>();
  for (const line of old) left.set(line, (left.get(line) ?? 0) + 1);
  let changed = 0;
  for (const line of fresh) {
    const count = left.get(line) ?? 0;
    if (count === 0) changed += 1;
    else left.set(line, count - 1);
  }
  return changed;
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));
