import type { DriverInput, DriverVerdict, MergeDriver } from '../driver.ts';
import { mergeJson } from '../json/merge.ts';
import { canonicalOf, parseJson, type JsonText } from '../json/parse.ts';
import { mergeText } from './text.ts';

/** Contents of more bytes together are merged by line; the result must be JSON all the same. */
const valueBytesMax = 4 * 1024 * 1024;

/**
 * JSON value by value. Where the lines merge clean and mean the same, their text
 * stands, so that the formatting of both sides is kept; what is no JSON (comments,
 * keys twice) is merged by line. Two sides that are JSON never give what is none.
 */
export const jsonDriver: MergeDriver = { id: 'json', version: '1', takesAdded: true, merge };

function merge(input: DriverInput): DriverVerdict {
  const lines = mergeText(input);
  const [base, current, incoming] = [input.base, input.current, input.incoming].map((content) =>
    content === undefined ? undefined : parseJson(content),
  );
  // Without a base the lines know nothing: two different texts are a conflict.
  const isUnknown = input.base === undefined && (current === undefined || incoming === undefined);
  if (isUnknown) return { kind: 'conflict', structure: 'unparsed' };
  if (current === undefined || incoming === undefined) return { ...lines, structure: 'unparsed' };
  const size = input.current.length + input.incoming.length + (input.base?.length ?? 0);
  const isReadable = input.base === undefined || base !== undefined;
  if (!isReadable || size > valueBytesMax) return checked(lines, isReadable ? 'too-large' : 'unparsed');
  const merged = mergeJson({ base, current, incoming }, input.path.endsWith('package.json') ? isConditions : undefined);
  if (merged === undefined) return { kind: 'conflict', lines: lines.kind, structure: 'conflict', ...regionsOf(lines) };
  if (merged.isListDoubtful) {
    // By key nothing stands against it: whether elements go together is for the lines to say.
    const isRight = lines.kind === 'clean' && parseJson(lines.content) !== undefined;
    if (isRight) return { ...lines, structure: 'clean' };
    return { kind: 'conflict', lines: lines.kind, structure: 'conflict', ...regionsOf(lines) };
  }
  const content = new TextEncoder().encode(merged.text);
  const written = parseJson(content);
  // What was written must read as what was meant; else it is not to be trusted.
  if (written === undefined || canonicalOf(written.root) !== merged.canonical)
    return { kind: 'conflict', lines: lines.kind, structure: 'conflict' };
  if (lines.kind === 'clean' && isSameValue(parseJson(lines.content), written)) return { ...lines, structure: 'clean' };
  return { kind: 'clean', content, lines: lines.kind, structure: 'clean' };
}

/** In these fields of a package.json the first condition that holds counts. */
const isConditions = (key: string): boolean => key === 'exports' || key === 'imports';

const regionsOf = (verdict: DriverVerdict): Pick<DriverVerdict & { kind: 'conflict' }, 'regions'> =>
  verdict.kind === 'conflict' && verdict.regions !== undefined ? { regions: verdict.regions } : {};

/** The verdict of the lines, unless it would make of two JSON texts one that is none. */
function checked(lines: DriverVerdict, structure: 'unparsed' | 'too-large'): DriverVerdict {
  if (lines.kind === 'conflict' || parseJson(lines.content) !== undefined) return { ...lines, structure };
  return { kind: 'conflict', lines: 'clean', structure: 'conflict' };
}

const isSameValue = (one: JsonText | undefined, other: JsonText): boolean =>
  one !== undefined && canonicalOf(one.root) === canonicalOf(other.root);
