import { MoundError } from '../core/errors.ts';
import type { StandingDecision } from './decision-set.ts';
import { generatedMark } from './reference.ts';

interface Language {
  readonly extensions: readonly string[];
  /** Of a comment's line. */
  readonly comment: string;
  readonly opening: readonly string[];
  readonly definition: (decision: StandingDecision, value: string) => string;
}

const languages = {
  typescript: {
    extensions: ['.ts', '.mts', '.cts'],
    comment: '//',
    opening: [],
    definition: ({ symbol }, value) => `export const ${symbol} = ${value} as const;`,
  },
  rust: {
    extensions: ['.rs'],
    comment: '//',
    opening: ['#![allow(dead_code)]', ''],
    definition: ({ symbol }, value) => `pub const ${symbol}: &str = ${value};`,
  },
  python: {
    extensions: ['.py'],
    comment: '#',
    opening: [],
    definition: ({ symbol }, value) => `${symbol} = ${value}`,
  },
  go: {
    extensions: ['.go'],
    comment: '//',
    opening: ['package decisions', ''],
    definition: ({ symbol }, value) => `const ${symbol} = ${value}`,
  },
} as const satisfies Record<string, Language>;

export type SymbolLanguage = keyof typeof languages;

/** By the name of the file; undefined where no symbols are written for its language. */
export function symbolLanguageOf(file: string): SymbolLanguage | undefined {
  const names = Object.keys(languages) as SymbolLanguage[];
  return names.find((name) => languages[name].extensions.some((extension) => file.endsWith(extension)));
}

/** A text that cannot end its comment's line. */
const oneLine = (text: string): string => text.replaceAll(/[\s\u2028\u2029]+/gu, ' ').trim();

/**
 * A file with a symbol for each active decision, whose value is `ID@HASH`: the
 * same bytes for the same decisions. Errors: `invalid-argument` where the
 * language is none of those.
 */
export function generateSymbols(file: string, decisions: readonly StandingDecision[]): string {
  const name = symbolLanguageOf(file);
  if (name === undefined) {
    const known = Object.values(languages).flatMap(({ extensions }) => extensions);
    const message = `no symbols are written for ${file}; its name ends with none of ${known.join(', ')}`;
    throw new MoundError('invalid-argument', message, { file });
  }
  const { comment, opening, definition }: Language = languages[name];
  const active = decisions
    .filter(({ status }) => status === 'active')
    .toSorted((a, b) => (a.symbol < b.symbol ? -1 : 1));
  const body = active.flatMap((decision) => {
    const { title, path, owner, topics, id, hash } = decision;
    const about = topics.length === 0 ? '' : `; decides ${topics.join(', ')}`;
    return [
      '',
      `${comment} ${oneLine(title)} (${path}; by ${oneLine(owner)}${oneLine(about)})`,
      definition(decision, `"${id}@${hash}"`),
    ];
  });
  const head = [`${comment} Code ${generatedMark}: do not edit. What is not active has no symbol here.`, ...opening];
  return `${[...(head.at(-1) === '' ? head.slice(0, -1) : head), ...body].join('\n')}\n`;
}
