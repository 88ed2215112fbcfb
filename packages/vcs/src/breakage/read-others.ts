import { placeOf, type Diagnostic, type SourcePlace } from './diagnostic.ts';

const gnu = /^(\S[^:]*):(\d+):(?:(\d+):)? (fatal error|error|warning|note): (.*)$/;

/** gcc and clang, and tools that print as they do; notes say of what an error before them speaks. */
export function readGcc(lines: readonly string[]): Diagnostic[] {
  const found: { head: Diagnostic; related: SourcePlace[] }[] = [];
  for (const [at, line] of lines.entries()) {
    const match = gnu.exec(line);
    if (match === null) continue;
    const [, path = '', row = '', column, severity, message = ''] = match;
    const place = placeOf(path, row, column);
    if (severity === 'note') found.at(-1)?.related.push(place);
    if (severity === 'note' || severity === 'warning' || path.endsWith('.rs') || path.endsWith('.go')) continue;
    const [, code] = / \[([-\w=+]+)\]$/.exec(message) ?? [];
    const source = /^\s*\d+ \| (.*)$/.exec(lines[at + 1] ?? '')?.[1];
    const more = { ...(code !== undefined && { code }), ...(source !== undefined && { source }) };
    found.push({ head: { tool: 'gcc', ...place, message, related: [], ...more }, related: [] });
  }
  return found.map(({ head, related }) => ({ ...head, related }));
}

const goLine = /^(?:vet: )?(\S[^:]*\.go):(\d+)(?::(\d+))?: (.*)$/;

/** go build, go vet. */
export function readGo(lines: readonly string[]): Diagnostic[] {
  return lines.flatMap((line): Diagnostic[] => {
    const match = goLine.exec(line);
    if (match === null) return [];
    const [, path = '', row = '', column, message = ''] = match;
    return [{ tool: 'go', ...placeOf(path, row, column), message, related: [] }];
  });
}

const frame = /^\s+File "(.+?)", line (\d+)(?:, in .*)?$/;
const raised = /^((?:[A-Za-z_][\w.]*)(?:Error|Exception|Warning|Interrupt|Exit|Iteration|Failed))(?:: (.*))?$/;

/** A Python traceback: its innermost place, the others related; and a syntax error. */
export function readPython(lines: readonly string[]): Diagnostic[] {
  const found: Diagnostic[] = [];
  let places: SourcePlace[] = [];
  let source: string | undefined;
  for (const [at, line] of lines.entries()) {
    const place = frame.exec(line);
    if (place !== null) {
      places.push(placeOf(place[1] ?? '', place[2] ?? '', undefined));
      source = lines[at + 1]?.trim();
      continue;
    }
    const end = raised.exec(line);
    const last = places.at(-1);
    if (end !== null && last !== undefined) {
      const [, code = '', message = ''] = end;
      const related = places.slice(0, -1).toReversed();
      found.push({ tool: 'python', ...last, code, message, related, ...(source !== undefined && { source }) });
      places = [];
    } else if (/^\S/.test(line)) places = [];
  }
  return found;
}

const stylish = /^\s+(\d+):(\d+)\s+error\s+(.*?)(?:\s{2,}(\S+))?$/;
const fileLine = /^(\/\S.*|\S+\.[cm]?[jt]sx?)$/;

/** ESLint, as it prints where nothing else is asked for. */
export function readEslint(lines: readonly string[]): Diagnostic[] {
  const found: Diagnostic[] = [];
  let path: string | undefined;
  for (const line of lines) {
    if (fileLine.test(line)) path = line;
    else if (/^\S/.test(line)) path = undefined;
    const match = path === undefined ? null : stylish.exec(line);
    if (path === undefined || match === null) continue;
    const [, row = '', column, message = '', code] = match;
    found.push({ tool: 'eslint', ...placeOf(path, row, column), message, related: [], ...(code !== undefined && { code }) });
  }
  return found;
} // prettier-ignore
