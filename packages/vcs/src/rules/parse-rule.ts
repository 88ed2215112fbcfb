import { MoundError } from '../core/errors.ts';
import type { Rule, RuleSubjects } from './rule.ts';

type Fields = Readonly<Record<string, unknown>>;

const malformed = (what: string): MoundError => new MoundError('invalid-argument', what);

/** An object with no other than the named fields: a misspelt one must not be taken for one left out. */
export function fieldsOf(value: unknown, what: string, allowed: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(`${what} is no object`);
  const strange = Object.keys(value).find((key) => !allowed.includes(key));
  if (strange !== undefined) throw malformed(`${what} has the unknown field "${strange}"`);
  return value as Fields;
}

function textsOf(value: unknown, what: string): readonly string[] {
  const isList =
    Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string' && one !== '');
  if (!isList) throw malformed(`${what} is no list of texts`);
  return value as readonly string[];
}

export function countOf(value: unknown, what: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw malformed(`${what} is no whole number`);
  return value as number;
}

const subjectLists = ['tasks', 'agents', 'roles', 'kinds', 'branches'] as const;
const authorKinds = ['human', 'agent', 'system'];

function subjectsOf(value: unknown): RuleSubjects {
  const fields = fieldsOf(value, '"to"', subjectLists);
  const given = subjectLists.filter((name) => fields[name] !== undefined);
  const lists = Object.fromEntries(given.map((name) => [name, textsOf(fields[name], `"to.${name}"`)]));
  const strange = lists['kinds']?.find((kind) => !authorKinds.includes(kind));
  if (strange !== undefined) throw malformed(`"to.kinds" has "${strange}", which is none of ${authorKinds.join(', ')}`);
  return lists;
}

const fieldsOfKind = {
  scope: ['paths'],
  'line-budget': ['paths', 'linesMax'],
  references: ['paths', 'bad'],
  links: ['paths'],
  fence: ['record'],
} as const;

/** Reads a rule from what JSON gives. Errors: `invalid-argument`, which says what is wrong. */
export function parseRule(value: unknown): Rule {
  const { kind } = (value ?? {}) as Fields;
  const kinds = Object.keys(fieldsOfKind) as Rule['kind'][];
  const known = kinds.find((name) => name === kind);
  if (known === undefined) throw malformed(`the kind ${JSON.stringify(kind)} is none of ${kinds.join(', ')}`);
  const fields = fieldsOf(value, 'the rule', ['kind', 'to', ...fieldsOfKind[known]]);
  const to = fields['to'] === undefined ? {} : { to: subjectsOf(fields['to']) };
  if (known === 'fence') {
    const { record } = fields;
    if (typeof record !== 'string' || record === '') throw malformed('"record" is no text');
    return { kind: known, ...to, record };
  }
  const paths = textsOf(fields['paths'], '"paths"');
  if (known === 'scope' || known === 'links') return { kind: known, ...to, paths };
  if (known === 'references') {
    const { bad } = fields;
    if (bad !== undefined && bad !== 'refuse' && bad !== 'flag')
      throw malformed('"bad" is neither "refuse" nor "flag"');
    return { kind: known, ...to, paths, ...(bad !== undefined && { bad }) };
  }
  return { kind: known, ...to, paths, linesMax: countOf(fields['linesMax'], '"linesMax"') };
}

/** The same from the bytes of a record. */
export function parseRuleBytes(value: Uint8Array): Rule {
  return parseRule(parseJson(value));
}

export function parseJson(value: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString('utf8')) as unknown;
  } catch (cause) {
    throw new MoundError('invalid-argument', `it is no JSON: ${String(cause)}`);
  }
}
