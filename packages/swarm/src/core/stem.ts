/** Consonants and vowels of a word, `y` being either. */
function isConsonant(word: string, at: number): boolean {
  const letter = word[at] ?? '';
  if ('aeiou'.includes(letter)) return false;
  return letter !== 'y' || at === 0 || !isConsonant(word, at - 1);
}

/** Runs of vowels that a consonant follows: Porter's m. */
function measure(stem: string): number {
  let runs = 0;
  for (let at = 1; at < stem.length; at++) if (isConsonant(stem, at) && !isConsonant(stem, at - 1)) runs += 1;
  return runs;
}

const hasVowel = (stem: string): boolean => Array.from(stem).some((_, at) => !isConsonant(stem, at));

const endsDouble = (word: string): boolean =>
  word.length > 1 && word.at(-1) === word.at(-2) && isConsonant(word, word.length - 1);

/** Ends consonant, vowel, consonant, the last of them not w, x or y. */
const endsShort = (word: string): boolean => {
  const last = word.length - 1;
  if (last < 2 || 'wxy'.includes(word[last] ?? '')) return false;
  return isConsonant(word, last - 2) && !isConsonant(word, last - 1) && isConsonant(word, last);
};

type Ending = readonly [ending: string, instead: string];

/** The first ending that fits is the only one that counts; it goes where what is before it measures more than `over`. */
function replaceEnding(word: string, endings: readonly Ending[], over: number): string {
  for (const [ending, instead] of endings) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, word.length - ending.length);
    return measure(stem) > over ? stem + instead : word;
  }
  return word;
}

function dropPlural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function dropPast(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const ending = ['ed', 'ing'].find((one) => word.endsWith(one));
  const stem = ending === undefined ? undefined : word.slice(0, word.length - ending.length);
  if (stem === undefined || !hasVowel(stem)) return word;
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (endsDouble(stem) && !/[lsz]$/.test(stem)) return stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

const second: readonly Ending[] = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
];
const third: readonly Ending[] = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
];
const fourth: readonly string[] =
  'al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize'.split(' ');

function dropSuffix(word: string): string {
  const ending = fourth.find((one) => word.endsWith(one));
  if (ending === undefined) return word;
  const stem = word.slice(0, word.length - ending.length);
  if (measure(stem) <= 1 || (ending === 'ion' && !/[st]$/.test(stem))) return word;
  return stem;
}

function dropLastE(word: string): string {
  if (!word.endsWith('e')) return word;
  const stem = word.slice(0, -1);
  const size = measure(stem);
  return size > 1 || (size === 1 && !endsShort(stem)) ? stem : word;
}

/**
 * The stem of an English word in small letters, by M. F. Porter's algorithm
 * (1980, with the author's later changes of two endings): equal for the forms
 * of one word, and not meant to be read. Words of one or two letters stay.
 */
export function porterStem(word: string): string {
  if (word.length < 3) return word;
  const base = dropPast(dropPlural(word));
  const vowelled = base.endsWith('y') && hasVowel(base.slice(0, -1)) ? `${base.slice(0, -1)}i` : base;
  const shorter = dropSuffix(replaceEnding(replaceEnding(vowelled, second, 0), third, 0));
  const last = dropLastE(shorter);
  return last.endsWith('ll') && measure(last.slice(0, -1)) > 1 ? last.slice(0, -1) : last;
}
