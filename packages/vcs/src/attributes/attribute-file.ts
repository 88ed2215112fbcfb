import { compileGlob, type Glob } from './glob.ts';
import { unquote } from './quoted.ts';

/** `name` set, `-name` unset, `name=value`; `!name` is unspecified: earlier lines do not count. */
export type AttributeState = true | false | string | undefined;

/** What a line says, in its order; a later one wins. Names and values are Latin-1 strings of their bytes. */
export type AttributeStates = readonly (readonly [name: string, state: AttributeState])[];

/** A line that says something of the paths that it matches. */
export interface AttributeRule {
  readonly glob: Glob;
  /** Without a slash: matched against the last segment only, in any directory below. */
  readonly isBasename: boolean;
  readonly states: AttributeStates;
}

interface Macro {
  readonly macro: string;
  readonly states: AttributeStates;
}

export interface AttributeFile {
  /** Of the file; '' at the root, else without a slash at its end. Latin-1 string of its bytes. */
  readonly directory: string;
  /** In the order of the file; a later one wins. */
  readonly rules: readonly AttributeRule[];
  /** What each macro stands for that the file defines, by its last definition. */
  readonly macros: ReadonlyMap<string, AttributeStates>;
  /** Lines that mean nothing, as in git, and why. */
  readonly ignored: readonly { readonly line: number; readonly reason: string }[];
}

/** As in git: a longer file, a longer line means nothing. */
const fileBytesMax = 100 * 1024 * 1024;
const lineBytesMax = 2047;

const macroPrefix = '[attr]';
const blank = /^[ \t\r\n]+/;
const word = /^[^ \t\r\n]*/;
const validName = /^[-A-Za-z0-9_.]+$/;

/**
 * Reads a `.gitattributes` as git reads it from a directory. Pure, and never
 * throws: what git ignores with a warning is in `ignored`. Of a link or a
 * directory of this name git takes no attributes; the caller passes files only.
 *
 * @param directory of the file, as the Latin-1 string of its bytes; '' at the root, where alone macros may be defined
 */
export function parseAttributeFile(content: Uint8Array, directory: string): AttributeFile {
  const rules: AttributeRule[] = [];
  const macros = new Map<string, AttributeStates>();
  const ignored: { line: number; reason: string }[] = [];
  if (content.length > fileBytesMax) {
    ignored.push({ line: 1, reason: `the file is longer than ${fileBytesMax} bytes` });
    return { directory, rules, macros, ignored };
  }
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
  const lines = text.replace(/^\xef\xbb\xbf/, '').split('\n');
  for (const [index, raw] of lines.entries()) {
    // Git's line ends at a NUL.
    const said = ruleOf(raw.split('\0', 1)[0] as string, directory === '');
    if (said === undefined) continue;
    if (typeof said === 'string') ignored.push({ line: index + 1, reason: said });
    else if ('macro' in said) macros.set(said.macro, said.states);
    else rules.push(said);
  }
  return { directory, rules, macros, ignored };
}

/** A rule, why the line is none, or undefined where it says nothing. */
function ruleOf(raw: string, isMacroAllowed: boolean): AttributeRule | Macro | string | undefined {
  const line = raw.replace(/\r$/, '');
  const start = line.replace(blank, '');
  if (start === '' || start.startsWith('#')) return undefined;
  if (line.length > lineBytesMax) return `the line is longer than ${lineBytesMax} bytes`;
  const quoted = start.startsWith('"') ? unquote(start) : undefined;
  const first = quoted?.text ?? (word.exec(start) as RegExpExecArray)[0];
  const states = statesOf(start.slice(quoted?.length ?? first.length).replace(blank, ''));
  const isMacro = first.length > macroPrefix.length && first.startsWith(macroPrefix);
  if (!isMacro) return typeof states === 'string' ? states : pathRule(first.split('\0', 1)[0] as string, states);
  if (!isMacroAllowed) return 'a macro is defined below the root';
  const name = (word.exec(first.slice(macroPrefix.length).replace(blank, '')) as RegExpExecArray)[0];
  if (!isValidName(name)) return `'${name}' is no name of an attribute`;
  return typeof states === 'string' ? states : { macro: name, states };
}

function pathRule(pattern: string, states: AttributeStates): AttributeRule | string {
  if (pattern.startsWith('!')) return 'a pattern cannot be negative';
  // It would match a directory, which has no attributes.
  if (pattern.endsWith('/')) return 'a pattern that ends with a slash matches no file';
  const isBasename = !pattern.includes('/');
  return { states, isBasename, glob: compileGlob(pattern.replace(/^\//, '')) };
}

function statesOf(text: string): AttributeStates | string {
  const states: (readonly [string, AttributeState])[] = [];
  for (const part of text.split(/[ \t\r\n]+/)) {
    if (part === '') continue;
    const [, sign, name = '', value] = /^([-!]?)([^=]*)(?:=(.*))?$/s.exec(part) as RegExpExecArray;
    if (!isValidName(name)) return `'${name}' is no name of an attribute`;
    if (sign === '') states.push([name, value ?? true]);
    else states.push([name, sign === '-' ? false : undefined]);
  }
  return states;
}

const isValidName = (name: string): boolean =>
  validName.test(name) && !name.startsWith('-') && !name.startsWith('builtin_');
