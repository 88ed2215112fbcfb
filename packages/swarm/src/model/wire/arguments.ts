import { isJsonObject, type JsonObject } from '../../core/json.ts';

export type ParsedArguments = { readonly value: JsonObject } | { readonly fault: string };

/** Of what could not be read; the model is shown it again. */
const rawCharsMax = 400;

const shown = (text: string): string =>
  text.length > rawCharsMax ? `${text.slice(0, rawCharsMax)}… (${text.length} characters)` : text;

/**
 * The arguments of a finished call. Nothing and `null` are no arguments; an
 * object that was encoded twice is unwrapped once. Nothing is repaired: what
 * does not parse may as well be a prefix of something else.
 */
export function parseArguments(text: string): ParsedArguments {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed === 'null') return { value: {} };
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
    if (typeof value === 'string' && value.trimStart().startsWith('{')) value = JSON.parse(value);
  } catch {
    return { fault: `its arguments are not complete JSON (cut off, or written wrongly): ${shown(trimmed)}` };
  }
  return isJsonObject(value) ? { value } : { fault: `its arguments are not a JSON object: ${shown(trimmed)}` };
}

/** True where the text is one whole JSON object. */
export function isWholeObject(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}
