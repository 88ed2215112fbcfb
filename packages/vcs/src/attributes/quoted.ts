const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

const piece = /"|\\([abfnrtv\\"])|\\([0-3][0-7]{2})|[^"\\]/gsy;

/**
 * A text in double quotes as C and git write it, at the start of `line`;
 * undefined where the quotes do not close or an escape is unknown. `length` is
 * that of the quoted form.
 */
export function unquote(line: string): { readonly text: string; readonly length: number } | undefined {
  let text = '';
  piece.lastIndex = 1;
  for (let match = piece.exec(line); match !== null; match = piece.exec(line)) {
    const [raw, letter, octal] = match;
    if (raw === '"') return { text, length: match.index + 1 };
    if (letter !== undefined) text += escapes[letter];
    else text += octal === undefined ? raw : String.fromCharCode(Number.parseInt(octal, 8));
  }
  return undefined;
}
