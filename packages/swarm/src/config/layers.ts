import { isJsonObject, type JsonObject, type JsonValue } from '../core/json.ts';

/** A configuration, or a part of one, as it was given. */
export type Layer = JsonObject;

/** Keys whose entries are taken whole: parts of two do not make a third. */
const whole = new Set(['models', 'endpoints']);

/** Later layers go before earlier ones, key by key; a list, a mind and a topology of another kind replace. */
export function layered(layers: readonly Layer[]): Layer {
  return layers.reduce((below, above) => merge(below, above, 0), {});
}

function merge(below: Layer, above: Layer, depth: number, name = ''): Layer {
  const merged: Record<string, JsonValue | undefined> = { ...below };
  for (const [key, value] of Object.entries(above)) {
    const old = merged[key];
    const goesIn =
      isJsonObject(value) && isJsonObject(old) && !(depth === 1 && whole.has(name)) && isOneKind(old, value);
    merged[key] = goesIn ? merge(old, value, depth + 1, key) : value;
  }
  return merged;
}

/** A part that names no kind changes what is there. */
const isOneKind = (below: JsonObject, above: JsonObject): boolean =>
  above['kind'] === undefined || below['kind'] === undefined || above['kind'] === below['kind'];
