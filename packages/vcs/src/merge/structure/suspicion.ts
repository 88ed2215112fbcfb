import { isChanged, type LineRange, type Region } from '../combine.ts';
import type { TextLines } from '../drivers/text.ts';

const keyword =
  /\b(?:function|class|interface|type|enum|const|let|var|namespace|module|fn|struct|trait|mod|static|union|impl|use|import)\b/;
const identifier = /[\p{L}_$][\p{L}\p{N}_$]*/gu;
const leading =
  /^\s*(?:(?:pub|static|async|get|set|public|private|protected|readonly|export|default|abstract|override)(?:\([^)]*\))?\s+)*[#*"']?([\p{L}_$][\p{L}\p{N}_$]*)["']?\s*(?:[(:=<?!,;]|$|\bas\b)/u;
/** A statement that calls a function or a macro. What declares a method or a variant says a type, opens a body or ends with a comma. */
const call = /^\s*[\p{L}\p{N}_$]+!?\([^:{]*\);\s*$/u;
const title = /^\s*(?:describe|suite|context|it|test)[\w.]*\(\s*(["'`].*)$/;
const control = new Set([
  'if',
  'for',
  'while',
  'switch',
  'catch',
  'return',
  'else',
  'match',
  'loop',
  'super',
  'it',
  'test',
  'describe',
  'expect',
]);

/**
 * Whether a clean merge of lines can have declared something twice or in another
 * place: both sides brought a line that may declare the same name, or one changed
 * how brackets nest. Where not, nothing needs to be parsed: of each line a merge
 * has as many as both sides ask for.
 */
export function isSuspicious(lines: TextLines, regions: readonly Region[]): boolean {
  const names = { current: new Set<string>(), incoming: new Set<string>() };
  for (const region of regions) {
    if (!isChanged(region)) continue;
    const removed = linesIn(lines.base, region.base);
    for (const side of ['current', 'incoming'] as const) {
      if (region.kind === (side === 'current' ? 'incoming' : 'current')) continue;
      const added = linesIn(lines[side], region[side]);
      if (nestingOf(added) !== nestingOf(removed)) return true;
      const old = new Set(removed);
      for (const line of added) if (!old.has(line)) for (const name of namesIn(line)) names[side].add(name);
    }
  }
  return [...names.current].some((name) => names.incoming.has(name));
}

const linesIn = (lines: readonly string[], { start, count }: LineRange): readonly string[] =>
  lines.slice(start, start + count);

function namesIn(line: string): string[] {
  const titled = title.exec(line);
  if (titled?.[1] !== undefined) return [titled[1]];
  if (keyword.test(line)) return [...line.matchAll(identifier)].map(([name]) => name).filter((name) => !keyword.test(name) && name !== 'export' && name !== 'from' && name !== 'pub'); // prettier-ignore
  if (call.test(line)) return [];
  const name = leading.exec(line)?.[1];
  return name === undefined || control.has(name) ? [] : [name];
}

/**
 * How braces and brackets nest in lines: how deep they end, and how far they
 * reach out of what they stand in. Those in texts count as well, and only cost a parse.
 */
function nestingOf(lines: readonly string[]): string {
  let depth = 0;
  let lowest = 0;
  let other = 0;
  for (const line of lines) {
    for (let at = 0; at < line.length; at++) {
      const sign = line[at];
      if (sign === '{') depth++;
      else if (sign === '}') lowest = Math.min(lowest, --depth);
      else if (sign === '[' || sign === '(') other++;
      else if (sign === ']' || sign === ')') other--;
    }
  }
  return `${depth} ${lowest} ${other}`;
}
