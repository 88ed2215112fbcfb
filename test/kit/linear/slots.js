// The text of a shared file: each writer has one line of its own, with lines between that nobody writes, so that
// edits of different writers merge. What a line holds is the id of the intent that wrote it.

const spacing = 6;

export const emptyText = (writers, filler) =>
  Array.from({ length: writers }, (_, slot) => [
    `slot ${slot} -\n`,
    ...Array.from({ length: spacing }, (__, i) => `${filler} ${slot}.${i}\n`),
  ])
    .flat()
    .join('');

export function withSlot(text, slot, id) {
  const lines = text.split('\n');
  lines[slot * (spacing + 1)] = `slot ${slot} ${id}`;
  return lines.join('\n');
}

/** The id that each writer's line holds; undefined where anything else differs from the empty text. */
export function slotsOf(text, writers, filler) {
  const lines = text.split('\n');
  const slots = Array.from({ length: writers }, (_, slot) => {
    const [name, number, id] = (lines[slot * (spacing + 1)] ?? '').split(' ');
    return name === 'slot' && Number(number) === slot ? id : undefined;
  });
  if (slots.includes(undefined)) return undefined;
  const bare = slots.reduce((rest, _, slot) => withSlot(rest, slot, '-'), text);
  return bare === emptyText(writers, filler) ? slots : undefined;
}
