import { plain, type Needle } from './needles.ts';

const keyChars = 4;
const isWordChar = (char: string | undefined): boolean => char !== undefined && /[\p{L}\p{N}_]/u.test(char);

/** Whether a word goes on over a place. */
const goesOn = (text: string, at: number): boolean => isWordChar(text[at - 1]) && isWordChar(text[at]);

/** Looks for many strings in one pass over a text. */
export class NeedleSearch {
  readonly #byKey = new Map<string, Needle[]>();
  /** Which pairs of characters begin a key, by their codes. */
  readonly #starts = new Uint8Array(1 << 16);

  constructor(needles: readonly Needle[]) {
    for (const needle of needles) {
      const key = needle.text.slice(0, keyChars);
      const some = this.#byKey.get(key);
      if (some === undefined) this.#byKey.set(key, [needle]);
      else some.push(needle);
      this.#starts[pairAt(needle.text, 0)] = 1;
    }
  }

  /** Each that the text holds, once, with the words around it. It stands alone: `b = 1` is not in `b = 11`. */
  find(text: string): { readonly needle: Needle; readonly around: string }[] {
    const where = plain(text);
    const found = new Map<Needle, string>();
    for (let at = 0; at < where.length; at++) {
      if (this.#starts[pairAt(where, at)] === 0) continue;
      for (const needle of this.#byKey.get(where.slice(at, at + keyChars)) ?? []) {
        if (found.has(needle) || !where.startsWith(needle.text, at)) continue;
        const end = at + needle.text.length;
        if (goesOn(where, at) || goesOn(where, end)) continue;
        found.set(needle, where.slice(Math.max(0, at - 20), end + 20));
      }
    }
    return [...found].map(([needle, around]) => ({ needle, around }));
  }
}

const pairAt = (text: string, at: number): number =>
  ((text.charCodeAt(at) & 0xff) << 8) | ((text.charCodeAt(at + 1) || 0) & 0xff);
