/**
 * The line protocol between the runner and an engine that is a command:
 * `docs/spec/sql-engine-protocol.md`.
 */

/** One text on one line. */
export const escapeText = (text: string): string =>
  text.replace(/[\\\n\r]/g, (found) => (found === '\n' ? '\\n' : found === '\r' ? '\\r' : '\\\\'));

/** Errors: a RangeError where a backslash stands before something else. */
export const unescapeText = (line: string): string =>
  line.replace(/\\(.?)/g, (found, next: string) => {
    if (next === 'n') return '\n';
    if (next === 'r') return '\r';
    if (next === '\\') return '\\';
    throw new RangeError(`'${found}' is no escape; there are \\n, \\r and \\\\`);
  });

export type Reply =
  | { readonly kind: 'ok' }
  | { readonly kind: 'error'; readonly message: string }
  | { readonly kind: 'rows'; readonly columns: number; readonly rows: number };

/** The first line of an answer; a string says why it is none. */
export function parseReply(line: string): Reply | string {
  if (line === 'ok') return { kind: 'ok' };
  if (line === 'error' || line.startsWith('error ')) return { kind: 'error', message: unescapeText(line.slice(6)) };
  const rows = /^rows (\d{1,9}) (\d{1,12})$/.exec(line);
  if (rows) return { kind: 'rows', columns: Number(rows[1]), rows: Number(rows[2]) };
  return `answered ${JSON.stringify(line.slice(0, 80))}, not ok, error MESSAGE or rows COLUMNS ROWS`;
}
