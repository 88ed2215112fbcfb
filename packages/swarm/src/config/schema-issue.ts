import { z } from 'zod';

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

type Issue = z.core.$ZodIssue;

/** The first fault in one line: where, what, and for an unknown key the known one that is nearest. */
export function saysOf(issues: readonly Issue[], schema: z.ZodType): string {
  const [issue] = issues;
  if (issue === undefined) return 'is not what it should be';
  const at = issue.path.join('.');
  if (issue.code !== 'unrecognized_keys') return `${at || 'the whole'}: ${plain(issue)}`;
  const [key = ''] = issue.keys;
  const known = keysAt(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema, issue.path);
  const near = nearest(key, known);
  const hint = near === undefined ? 'nothing may stand here' : `the nearest is '${near}'`;
  return `${at === '' ? key : `${at}.${key}`}: unknown key; ${hint}`;
}

const plain = (issue: Issue): string =>
  issue.code === 'invalid_union' && 'discriminator' in issue && typeof issue.discriminator === 'string'
    ? `there is no such ${issue.discriminator}`
    : issue.message.replace(/^Invalid input: /, '');

/** Keys that the schema knows at a path, of every form that may stand there. */
function keysAt(schema: JsonSchema, path: readonly PropertyKey[]): string[] {
  let forms = [schema];
  for (const step of path) {
    forms = forms.flatMap(variants).flatMap(({ properties, additionalProperties, items }) => {
      const next = typeof step === 'number' ? items : (properties?.[String(step)] ?? additionalProperties);
      return typeof next === 'object' ? [next] : [];
    });
  }
  return [...new Set(forms.flatMap(variants).flatMap(({ properties = {} }) => Object.keys(properties)))];
}

const variants = (schema: JsonSchema): JsonSchema[] => [
  schema,
  ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(variants),
];

/** By the fewest letters changed. */
export function nearest(key: string, known: readonly string[]): string | undefined {
  const far = (other: string): number => distance(key.toLowerCase(), other.toLowerCase());
  return known.toSorted((left, right) => far(left) - far(right))[0];
}

/** Letters to put in, take out, replace or swap with their neighbour. */
function distance(left: string, right: string): number {
  let before: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let row = 1; row <= left.length; row++) {
    const next = [row];
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1];
      const swaps = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        swaps ? (before[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    before = last;
    last = next;
  }
  return last[right.length] ?? left.length;
}
