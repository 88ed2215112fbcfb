import { isChanged, type Region } from '../combine.ts';
import { linesAt, type CutTexts } from '../cut-text.ts';

const keyword =
  /\b(?:function|class|interface|type|enum|const|let|var|namespace|module|fn|struct|trait|mod|static|union|impl|use|import)\b/;
const identifier = /[\p{L}_$][\p{L}\p{N}_$]*/gu;
const leading =
  /^\s*(?:(?:pub|static|async|get|set|public|private|protected|readonly|export|default|abstract|override)(?:\([^)]*\))?\s+)*[#*"']?([\p{L}_$][\p{L}\p{N}_$]*)["']?\s*(?:[(:=<?!,;]|$|\bas\b)/u;
/** A statement that calls a function or a macro. What declares a method or a variant says a type, opens a body or ends with a comma. */
const call = /^\s*[\p{L}\p{N}_$]+!?\([^:{]*\);\s*$/u;
const title = /^\s*(?:describe|suite|context|it|test)[\w.]*\(\s*(["'`].*?)\s*$/;
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
export function isSuspicious(cut: CutTexts, regions: readonly Region[]): boolean {
  const names = { current: new Set<string>(), incoming: new Set<string>() };
  for (const region of regions) {
    if (!isChanged(region)) continue;
    const removed = linesAt(cut.base, region.base);
    for (const side of ['current', 'incoming'] as const) {
      if (region.kind === (side === 'current' ? 'incoming' : 'current')) continue;
      const added = linesAt(cut[side], region[side]);
      if (nestingOf(added) !== nestingOf(removed)) return true;
      const old = new Set(removed);
      for (const line of added) if (!old.has(line)) for (const name of namesIn(line)) names[side].add(name);
    }
  }
  return [...names.current].some((name) => names.incoming.has(name));
}

/**
 * Whether a conflict of lines is one for declarations, too, so that nothing needs to
 * be parsed: somewhere both sides replaced indented lines of which none can declare
 * anything or end what it stands in, by others of that kind. So they are of one body.
 */
export function isWithinBodies(cut: CutTexts, regions: readonly Region[]): boolean {
  return regions.some((region) => {
    // What was only added may be declarations of a form that no pattern knows, such as groups of tests.
    if (region.kind !== 'conflict' || sides.some((side) => region[side].count === 0)) return false;
    const texts = sides.map((side) => linesAt(cut[side], region[side]));
    return texts.every((lines) => isLevel(lines) && lines.every(isInBody));
  });
}

/** Indented, or empty, and nothing that declares. */
const isInBody = (line: string): boolean => !/^\S/.test(line) && namesIn(line).length === 0;

const sides = ['base', 'current', 'incoming'] as const;
const isLevel = (lines: readonly string[]): boolean => nestingOf(lines) === nestingOf([]);

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
