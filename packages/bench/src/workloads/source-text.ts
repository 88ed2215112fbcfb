import type { seededRandom } from '@mound/vcs';

import type { Slab } from './slab.ts';

export type SeededRandom = ReturnType<typeof seededRandom>;

const words = (
  'account batch branch buffer cache change chunk client commit cursor delta draft edge entry event field file filter ' +
  'frame graph group handle head index item key layer limit line list log map merge mode node object offset order ' +
  'owner page parent path plan pool queue range reader record region result root scope seq shard source stage state ' +
  'stream table task token tree value version view writer zone'
).split(' ');

const types = ['string', 'number', 'boolean', 'Buffer', 'readonly string[]', 'Map<string, number>', 'Uint8Array'];

const pick = (random: SeededRandom, from: readonly string[]): string => from[random.below(from.length)] ?? '';

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const name = (random: SeededRandom): string => pick(random, words) + capital(pick(random, words));

/** One line of code-like text: names repeat as they do in code, numbers make the lines differ. */
export function sourceLine(random: SeededRandom): string {
  switch (random.below(8)) {
    case 0:
      return `  // ${pick(random, words)} ${pick(random, words)} of the ${pick(random, words)} (${random.below(100_000)})`;
    case 1:
      return `export function ${name(random)}(${name(random)}: ${pick(random, types)}): ${pick(random, types)} {`;
    case 2:
      return `  if (${name(random)} !== ${random.below(100_000)}) return ${name(random)};`;
    case 3:
      return `    ${name(random)}.${pick(random, words)}(${name(random)}, ${random.below(100_000)});`;
    case 4:
      return `  for (const ${pick(random, words)} of ${name(random)}) ${name(random)} += ${random.below(1000)};`;
    case 5:
      return `  throw new Error('${pick(random, words)} ${random.below(100_000)} is no ${pick(random, words)}');`;
    default:
      return `  const ${name(random)} = ${name(random)}.${pick(random, words)}(${name(random)});`;
  }
}

/** A {@link sourceLine} that is a whole statement or a comment: it opens no body. */
export function statementLine(random: SeededRandom): string {
  let line = sourceLine(random);
  while (line.endsWith('{')) line = sourceLine(random);
  return line;
}

/** Code-like text of exactly `bytes` bytes, with a final line ending. */
export function sourceText(random: SeededRandom, bytes: number, slab: Slab): Buffer {
  let text = '';
  while (text.length < bytes) text += `${sourceLine(random)}\n`;
  const content = slab.take(bytes);
  content.write(
    `${text
      .slice(0, bytes - 1)
      .trimEnd()
      .padEnd(bytes - 1, ';')}\n`,
    'latin1',
  );
  return content;
}

/** Prose of exactly `bytes` bytes. */
export function prose(random: SeededRandom, bytes: number): string {
  let text = capital(pick(random, words));
  while (text.length < bytes) text += ` ${pick(random, words)}`;
  return (
    text
      .slice(0, bytes - 1)
      .trimEnd()
      .padEnd(bytes - 1, 'n') + '.'
  );
}

/** Where `count` whole lines begin and end, after a random place; tried again where fewer follow. */
function randomLines(random: SeededRandom, content: Buffer, count: number): { from: number; to: number } {
  const before = content.indexOf(10, random.below(content.length));
  const from = before + 1;
  let to = from;
  for (let line = 0; line < count; line++) {
    const end = content.indexOf(10, to);
    if (end < 0) return randomLines(random, content, count);
    to = end + 1;
  }
  return { from, to };
}

/** Replaces `count` consecutive lines at a random place by as many new ones. */
export function editLines(random: SeededRandom, content: Buffer, count: number, slab: Slab): Buffer {
  const { from, to } = randomLines(random, content, count);
  let replacement = '';
  for (let line = 0; line < count; line++) replacement += `${sourceLine(random)}\n`;
  const edited = slab.take(content.length - (to - from) + replacement.length);
  content.copy(edited, 0, 0, from);
  edited.write(replacement, from, 'latin1');
  content.copy(edited, from + replacement.length, to);
  return edited;
}
