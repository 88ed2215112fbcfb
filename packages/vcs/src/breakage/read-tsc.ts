import { placeOf, type Diagnostic, type SourcePlace } from './diagnostic.ts';

const plain = /^(.+?)\((\d+),(\d+)\): error (TS\d+): (.*)$/;
const pretty = /^(.+?):(\d+):(\d+) - error (TS\d+): (.*)$/;
const related = /^\s+(\S.*?):(\d+):(\d+)(?: - .*)?$/;
const excerpt = /^\s*(\d+) (.*)$/;

/** TypeScript's output, plain and for people. */
export function readTsc(lines: readonly string[]): Diagnostic[] {
  const found: Diagnostic[] = [];
  let open: { places: SourcePlace[]; source: string | undefined; head: Diagnostic } | undefined;
  const close = (): void => {
    if (open === undefined) return;
    found.push({ ...open.head, related: open.places, ...(open.source !== undefined && { source: open.source }) });
    open = undefined;
  };
  for (const line of lines) {
    const head = plain.exec(line) ?? pretty.exec(line);
    if (head !== null) {
      close();
      const [, path = '', row = '', column, code = '', message = ''] = head;
      open = { places: [], source: undefined, head: { tool: 'tsc', ...placeOf(path, row, column), code, message, related: [] } };
      continue;
    }
    if (open === undefined) continue;
    const place = related.exec(line);
    const shown = excerpt.exec(line);
    if (place !== null) open.places.push(placeOf(place[1] ?? '', place[2] ?? '', place[3]));
    else if (shown !== null && open.places.length === 0 && Number(shown[1]) === open.head.line) open.source ??= shown[2];
    else if (/^Found \d+ error/.test(line)) close();
  }
  close();
  return found;
} // prettier-ignore
