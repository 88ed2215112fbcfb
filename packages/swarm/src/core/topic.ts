import { porterStem } from './stem.ts';

/** Words that narrow nothing. */
const empty = new Set(
  'a about all an and any are as at be between by for from how in into is it its of on or our that the their this to used using via we what when where which who with'.split(
    ' ',
  ),
);

/** Short forms that stand for the same thing as the word. */
const wholeOf: Readonly<Record<string, string>> = {
  arg: 'argument',
  args: 'argument',
  cfg: 'configuration',
  conf: 'configuration',
  config: 'configuration',
  db: 'database',
  dir: 'directory',
  dirs: 'directory',
  env: 'environment',
  err: 'error',
  errs: 'error',
  fn: 'function',
  id: 'identifier',
  ids: 'identifier',
  impl: 'implementation',
  lib: 'library',
  msg: 'message',
  msgs: 'message',
  param: 'parameter',
  params: 'parameter',
  repo: 'repository',
  repos: 'repository',
  spec: 'specification',
  specs: 'specification',
};

/** Words that a stemmer takes for forms of others that mean something else. */
const own: Readonly<Record<string, string>> = {
  general: 'general',
  universal: 'universal',
  policy: 'policy',
  policies: 'policy',
  organization: 'organization',
  organizations: 'organization',
};

/** British and American spelling are one. */
const spelt = (word: string): string =>
  word
    .replace(/(?<=\w{2})yse(?=[sdr]?$)/, 'yze')
    .replace(/(?<=\w{2})is(?=(?:e|es|ed|er|ers|ing|ation|ations)$)/, 'iz')
    .replace(/(?<=\w{2})our(?=s?$)/, 'or');

/** Who or what does it is as good as doing it: parser, parsing. Porter leaves the endings of short words. */
const withoutDoer = (stem: string): string => {
  const short = /^(.{3,})(?:er|or)$/.exec(stem)?.[1];
  return short !== undefined && /[aeiouy]/.test(short) ? short : stem;
};

function stemOf(word: string): string {
  const whole = spelt(wholeOf[word] ?? word);
  return own[whole] ?? withoutDoer(porterStem(whole));
}

/** What two topics are compared by. */
interface TopicForm {
  readonly stems: ReadonlySet<string>;
  /** Neighbours written as one: `file names` and `filenames`. */
  readonly pairs: ReadonlySet<string>;
}

const forms = new Map<string, TopicForm>();

function formOf(topic: string): TopicForm {
  const known = forms.get(topic);
  if (known !== undefined) return known;
  const spaced = topic.normalize('NFKC').replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ');
  const words = spaced.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const telling = words.filter((word) => !empty.has(word));
  // A topic of empty words only is still one.
  const kept = telling.length > 0 ? telling : words;
  const form = {
    stems: new Set(kept.map(stemOf)),
    pairs: new Set(kept.slice(1).map((word, at) => stemOf(`${kept[at] ?? ''}${word}`))),
  };
  // Topics come from models: what is remembered of them is bounded.
  if (forms.size >= 10_000) forms.clear();
  forms.set(topic, form);
  return form;
}

const covers = (wide: TopicForm, { stems, pairs }: TopicForm): boolean =>
  wide.stems.size > 0 && [...wide.stems].every((stem) => stems.has(stem) || pairs.has(stem));

/**
 * True where who settles the one settles the other too, or a part of it: the
 * same words but for their order, form and spelling, or the words of the one
 * and more that narrow it (`error codes` covers `error codes of the parser`).
 */
export function overlaps(left: string, right: string): boolean {
  const [one, other] = [formOf(left), formOf(right)];
  return covers(one, other) || covers(other, one);
}

/** The first pair that overlaps, of two lists of topics. */
export function overlapOf(
  left: readonly string[],
  right: readonly string[],
): { readonly topic: string; readonly other: string } | undefined {
  for (const topic of left) {
    const other = right.find((one) => overlaps(topic, one));
    if (other !== undefined) return { topic, other };
  }
  return undefined;
}
