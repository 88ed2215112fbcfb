/** Texts of the project that intended work comes into, and how each kind of edit changes them. */

export const corePath = 'src/core.ts';
/** As the files below a part name it. */
export const coreSpecifier = '../core.ts';
export const settingsPath = 'src/settings.ts';
/** One large file that many add to; where it was split, its sections stand in modules of their own. */
export const registryPath = 'src/registry.ts';
export const sectionPathOf = (section: number): string => `src/registry/section${section}.ts`;
export const registrySections = 6;
export const entriesPerSection = 40;

/** Files of this part may not grow: nothing in them says so, whoever tries is told. */
export const fullPart = 'src/part1';

/** Places in a file behind which lines are added, and lists of numbers that are added to. */
export const placesPerFile = 6;
export const listsPerFile = 4;

export const partFileText = (): string => {
  const lists = Array.from({ length: listsPerFile }, (_, at) => `export const list${at} = [0];`);
  const places = Array.from({ length: placesPerFile }, (_, at) => `// place ${at}\nexport const base${at} = core(1);`);
  return [`import { core } from '${coreSpecifier}';`, ...lists, ...places, ''].join('\n');
};
/** Lines of a file as it is at first, which those of the full part may not exceed. */
export const fullLines = partFileText().split('\n').length - 1;

/** What a task puts what has no room elsewhere into. */
export const ownPathOf = (path: string, task: string): string =>
  `${path.slice(0, path.lastIndexOf('/'))}/own-${task}.ts`;
export const ownFileText = `import { core } from '${coreSpecifier}';\n`;

const anchorOf = (section: number, entry: number): string => `export const entry${section}_${entry} = 0;`;

/** One section of the registry, as its own text. */
export const sectionText = (section: number): string =>
  [`// section ${section}`, ...Array.from({ length: entriesPerSection }, (_, at) => anchorOf(section, at)), ''].join(
    '\n',
  );

export const registryText = (): string => Array.from({ length: registrySections }, (_, at) => sectionText(at)).join('');

const coreLine = /^export const core = .*$/m;

const coreTextOf = (names: readonly string[]): string =>
  `export const core = (${names.map((name) => `${name}: number`).join(', ')}): number => ${names.join(' + ')};`;

/** Names of the core function's parameters in a text of its file. */
export const parametersOf = (core: string): string[] =>
  [...(coreLine.exec(core)?.[0] ?? '').matchAll(/(\w+): number[,)]/g)].map(([, name = '']) => name);

/** The core function's file with these parameters; what stands beside the function stays. */
export const withParameters = (core: string, names: readonly string[]): string =>
  core.replace(coreLine, coreTextOf(names));

export const coreText = (): string => `${coreTextOf(['first'])}\n`;
export const settingsText = (style: string): string => `export const style = '${style}' as const;\n`;

const argumentsOf = (count: number): string => Array.from({ length: count }, (_, at) => at + 1).join(', ');

export const callOf = (token: string, count: number): string => `export const ${token} = core(${argumentsOf(count)});`;
export const plainLineOf = (token: string): string => `export const ${token} = 0;`;

/** The file with every call of the core function as it takes so many parameters. */
export const following = (text: string, count: number): string =>
  text.replaceAll(/\bcore\([\d, ]*\)/g, `core(${argumentsOf(count)})`);

/** Calls of the core function that pass another number of arguments than it takes, by line from 1. */
export const wrongCalls = (text: string, count: number): { readonly line: number; readonly text: string }[] =>
  text.split('\n').flatMap((line, at) => {
    const given = /\bcore\(([\d, ]*)\)/.exec(line)?.[1];
    return given === undefined || given.split(',').length === count ? [] : [{ line: at + 1, text: line }];
  });

/** The text with a line behind its anchor; undefined where that is not in it. */
export function behind(text: string, anchor: string, line: string): string | undefined {
  return text.includes(`${anchor}\n`) ? text.replace(`${anchor}\n`, `${anchor}\n${line}\n`) : undefined;
}

export const placeAnchor = (place: number): string => `// place ${place}`;
export const entryAnchor = anchorOf;

/** The text with a number in one of its lists. */
export const withNumber = (text: string, list: number, token: string): string =>
  text.replace(new RegExp(`(const list${list} = \\[[^\\]]*)\\]`), `$1, ${token}]`);

/** Every token that stands in a text, whatever else does. */
export function tokensIn(text: string): string[] {
  const names = [...text.matchAll(/\bconst (\w+) =/g)].map(([, name = '']) => name);
  return [...names, ...(text.match(/\b\d{7,}\b/g) ?? []), ...parametersOf(text)];
}
