import { placeOf, type Diagnostic, type SourcePlace } from './diagnostic.ts';

const head = /^(error|warning)(?:\[(\w+)\])?: (.*)$/;
const arrow = /^\s*(?:-->|:::) (.+?):(\d+):(\d+)$/;
const excerpt = /^\s*(\d+)\s*\| (.*)$/;
const short = /^(\S.*?):(\d+):(\d+): error(?:\[(\w+)\])?: (.*)$/;

interface Open {
  readonly isError: boolean;
  readonly code: string | undefined;
  readonly message: string;
  readonly places: SourcePlace[];
  source: string | undefined;
}

/** What rustc and cargo print of errors, in full or in short. */
export function readRustc(lines: readonly string[]): Diagnostic[] {
  const found: Diagnostic[] = [];
  let open: Open | undefined;
  const close = (): void => {
    const [place, ...related] = open?.places ?? [];
    if (open?.isError === true && place !== undefined) {
      const { code, message, source } = open;
      const more = { ...(code !== undefined && { code }), ...(source !== undefined && { source }) };
      found.push({ tool: 'rustc', ...place, message, related, ...more });
    }
    open = undefined;
  };
  for (const line of lines) {
    const brief = short.exec(line);
    const begun = head.exec(line);
    if (brief !== null && brief[1]?.endsWith('.rs') === true) {
      close();
      const [, path = '', row = '', column, code, message = ''] = brief;
      found.push({ tool: 'rustc', ...placeOf(path, row, column), ...(code !== undefined && { code }), message, related: [] });
    } else if (begun !== null) {
      close();
      open = { isError: begun[1] === 'error', code: begun[2], message: begun[3] ?? '', places: [], source: undefined };
    } else if (open !== undefined) {
      const place = arrow.exec(line);
      const shown = excerpt.exec(line);
      if (place !== null) open.places.push(placeOf(place[1] ?? '', place[2] ?? '', place[3]));
      else if (shown !== null && open.places.length === 1 && Number(shown[1]) === open.places[0]?.line) open.source ??= shown[2];
    }
  }
  close();
  return found;
} // prettier-ignore
