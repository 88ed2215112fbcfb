import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';

/** Joins what came in pieces: texts and lists in their order, objects field by field; of all else the last counts. */
export function gather(left: JsonObject, right: JsonObject): JsonObject {
  const joined: Record<string, JsonValue | undefined> = { ...left };
  for (const [key, value] of Object.entries(right)) joined[key] = join(joined[key], value, key);
  return joined;
}

/** These name a thing, and are sent again whole with every piece. */
const names: ReadonlySet<string> = new Set(['id', 'type', 'format', 'index', 'role', 'signature']);

function join(left: JsonValue | undefined, right: JsonValue | undefined, key: string): JsonValue | undefined {
  if (left === undefined || left === null || right === undefined || right === null) return right ?? left;
  if (typeof left === 'string' && typeof right === 'string')
    return names.has(key) || left === right ? right : left + right;
  if (Array.isArray(left) && Array.isArray(right)) return joinLists(left as JsonValue[], right as JsonValue[]);
  return isJsonObject(left) && isJsonObject(right) ? gather(left, right) : right;
}

/** Entries with an index continue the entry of that index. */
function joinLists(left: readonly JsonValue[], right: readonly JsonValue[]): JsonValue[] {
  const joined = [...left];
  for (const entry of right) {
    const index = isJsonObject(entry) ? entry['index'] : undefined;
    const at = index === undefined ? -1 : joined.findIndex((other) => isJsonObject(other) && other['index'] === index);
    const before = joined[at];
    if (isJsonObject(before) && isJsonObject(entry) && before['type'] === entry['type'])
      joined[at] = gather(before, entry);
    else joined.push(entry);
  }
  return joined;
}
