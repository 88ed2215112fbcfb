/** A stretch of lines, from 0. */
export interface LineStretch {
  readonly start: number;
  readonly count: number;
}

/** Names that a change touches. */
export interface ChangedSymbols {
  /** What is declared on changed lines, or around them. */
  readonly declared: ReadonlySet<string>;
  /** Names of members on changed lines: too common to go by alone. */
  readonly members: ReadonlySet<string>;
}

const word = '[A-Za-z_$][\\w$]*';
const keyword = new RegExp(
  `\\b(?:function\\*?|class|interface|type|enum|const|let|var|namespace|fn|struct|trait|mod|static|union|def|func|macro_rules!)\\s+(?:\\([^)]*\\)\\s*)?(?:mut\\s+)?(${word})`,
  'g',
);
const cFunction = new RegExp(`^[A-Za-z_][\\w*\\s]*?[\\s*](${word})\\s*\\(`);
const preprocessor = new RegExp(`^#\\s*define\\s+(${word})`);
const modifiers =
  '(?:(?:pub(?:\\([^)]*\\))?|public|private|protected|readonly|static|async|export|abstract|override|get|set)\\s+)*';
const member = new RegExp(`^\\s+${modifiers}(${word})\\??\\s*(?:\\(|:(?!:)|<[^>]*>\\()`);
const noNames = new Set(
  'if for while switch return catch else match case default do loop new throw await yield typeof super import from char int void long short unsigned signed float double bool'.split(' '),
); // prettier-ignore

function declaredOn(line: string): string[] {
  const names = [...line.matchAll(keyword)].map(([, name = '']) => name);
  const other = preprocessor.exec(line)?.[1] ?? cFunction.exec(line)?.[1];
  return [...names, ...(other === undefined ? [] : [other])].filter((name) => !noNames.has(name));
}

const indentOf = (line: string): number => /^\s*/.exec(line)?.[0].length ?? 0;

/** The nearest line above, less indented, that declares something; -1: none. */
function enclosing(lines: readonly string[], at: number): number {
  let indent = indentOf(lines[at] ?? '');
  for (let above = at - 1; above >= 0 && indent > 0; above--) {
    const line = lines[above] ?? '';
    if (line.trim() === '' || indentOf(line) >= indent) continue;
    indent = indentOf(line);
    if (declaredOn(line).length > 0) return above;
  }
  return -1;
}

/** The names that changed lines of one version of a text declare, or stand in. */
export function changedSymbols(lines: readonly string[], stretches: readonly LineStretch[]): ChangedSymbols {
  const declared = new Set<string>();
  const members = new Set<string>();
  for (const { start, count } of stretches) {
    for (let at = start; at < start + count; at++) {
      const line = lines[at] ?? '';
      if (line.trim() === '') continue;
      const names = declaredOn(line);
      const around = names.length > 0 ? names : declaredOn(lines[enclosing(lines, at)] ?? '');
      for (const name of around) declared.add(name);
      const name = member.exec(line)?.[1];
      if (name !== undefined && !noNames.has(name) && !declared.has(name)) members.add(name);
    }
  }
  return { declared, members };
}

/** Where a comment on changed lines stands best: before the declaration that the first of them is, or is in. */
export function declarationLine(lines: readonly string[], at: number): number {
  if (declaredOn(lines[at] ?? '').length > 0) return at;
  const above = enclosing(lines, at);
  return above < 0 ? at : above;
}
