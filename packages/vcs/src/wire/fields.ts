/** JSON that a caller wrote cannot be read as what it should be; whoever took it in says where it came from. */
export class WireFault extends Error {
  override readonly name = 'WireFault';
}

export type Fields = Readonly<Record<string, unknown>>;

/** An object with no other than the named fields: a misspelt one must not be taken for one left out. */
export function fieldsOf(value: unknown, what: string, allowed: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new WireFault(`${what} is no object`);
  const strange = Object.keys(value).find((key) => !allowed.includes(key));
  if (strange !== undefined) throw new WireFault(`${what} has the unknown field "${strange}"`);
  return value as Fields;
}

export function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new WireFault(`${what} is no text`);
  return value;
}

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new WireFault(`${what} is no list`);
  return value as readonly unknown[];
}

/** A whole number from 0. */
export function countOf(value: unknown, what: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new WireFault(`${what} is no whole number`);
  return value as number;
}

export function oneOf<T extends string>(value: unknown, allowed: readonly T[], what: string): T {
  const found = allowed.find((name) => name === value);
  if (found === undefined) throw new WireFault(`${what} is ${JSON.stringify(value)}, not one of ${allowed.join(', ')}`);
  return found;
}

/** {@link oneOf} for a field that may be left out. */
export const choice =
  <const T extends string>(...allowed: readonly T[]) =>
  (value: unknown, what: string): T =>
    oneOf(value, allowed, what);

/** `value` read, where it is there at all, as a part of an object. */
export const optional = <K extends string, T>(
  key: K,
  value: unknown,
  read: (value: unknown, what: string) => T,
  what = `"${key}"`,
): { readonly [key in K]?: T } => (value === undefined ? {} : ({ [key]: read(value, what) } as { [key in K]: T }));

const base64Form = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Buffer.from skips what is no base64: a damaged content must not land as another. */
export function bytesOfBase64(value: unknown, what: string): Buffer {
  const text = textOf(value, what);
  if (!base64Form.test(text)) throw new WireFault(`${what} is no base64`);
  return Buffer.from(text, 'base64');
}

/** Reads JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new WireFault(cause instanceof Error ? cause.message : String(cause));
  }
}
