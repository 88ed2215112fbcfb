import { MoundError } from '../core/errors.ts';
import type { DiscardCause, HunkAccount, HunkFate } from '../core/intent.ts';
import { isMode } from '../core/mode.ts';
import type { Resolution } from '../repo/api.ts';

type Fields = Readonly<Record<string, unknown>>;

const malformed = (reason: string): MoundError =>
  new MoundError('stdin-malformed', `standard input is no resolution: ${reason}; see 'mound conflicts resolve --help'`);

/** An object with no other than the named fields: a misspelt one must not be taken for one left out. */
function fieldsOf(value: unknown, what: string, allowed: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(`${what} is no object`);
  const strange = Object.keys(value).find((key) => !allowed.includes(key));
  if (strange !== undefined) throw malformed(`${what} has the unknown field "${strange}"`);
  return value as Fields;
}

function textOf(value: unknown, what: string): string {
  if (typeof value !== 'string') throw malformed(`${what} is no text`);
  return value;
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(`${what} is no list`);
  return value as readonly unknown[];
}

function oneOf<T extends string>(value: unknown, allowed: readonly T[], what: string): T {
  const found = allowed.find((name) => name === value);
  if (found === undefined) throw malformed(`${what} is ${JSON.stringify(value)}, not one of ${allowed.join(', ')}`);
  return found;
}

function resultOf(value: unknown): Resolution['results'][number] {
  const fields = fieldsOf(value, 'a result', ['path', 'content', 'contentBase64', 'mode', 'at']);
  const path = textOf(fields['path'], 'the path of a result');
  const { content, contentBase64, mode, at } = fields;
  if (mode !== undefined && !isMode(mode)) throw malformed(`the mode of ${path} is ${JSON.stringify(mode)}`);
  const isOne = (content === undefined) !== (contentBase64 === undefined);
  if (!isOne) throw malformed(`${path} needs "content" (null deletes it) or "contentBase64"`);
  const bytes =
    contentBase64 !== undefined
      ? Buffer.from(textOf(contentBase64, `the contentBase64 of ${path}`), 'base64')
      : content === null
        ? null
        : textOf(content, `the content of ${path}`);
  return {
    path,
    content: bytes,
    ...(mode !== undefined && { mode }),
    ...(at !== undefined && { at: textOf(at, `the "at" of ${path}`) }),
  };
}

const fates = ['kept', 'transformed', 'discarded'] as const;

const causeFields = { decision: ['id'], identical: ['path'], check: ['command', 'finding'] } as const;

function causeOf(value: unknown): DiscardCause {
  const { kind } = fieldsOf(value, 'a "because"', ['kind', 'id', 'path', 'command', 'finding']);
  const named = oneOf(kind, Object.keys(causeFields) as (keyof typeof causeFields)[], 'the kind of a "because"');
  const fields = fieldsOf(value, 'a "because"', ['kind', ...causeFields[named]]);
  const text = (field: string): string => textOf(fields[field], `the ${field} of a "because"`);
  if (named === 'decision') return { kind: named, id: text('id') };
  if (named === 'identical') return { kind: named, path: text('path') };
  return { kind: named, command: text('command'), finding: text('finding') };
}

function fateOf({ fate, reason, because }: Fields, what: string): HunkFate {
  return {
    fate: oneOf(fate, fates, `the fate of ${what}`),
    ...(reason !== undefined && { reason: textOf(reason, `the reason of ${what}`) }),
    ...(because !== undefined && { because: causeOf(because) }),
  };
}

function accountOf(value: unknown): HunkAccount {
  const fields = fieldsOf(value, 'an account', ['path', 'side', 'hunk', 'fate', 'reason', 'because']);
  const { hunk } = fields;
  if (!Number.isSafeInteger(hunk)) throw malformed('the hunk of an account is no whole number');
  return {
    path: textOf(fields['path'], 'the path of an account'),
    side: oneOf(fields['side'], ['current', 'incoming'], 'the side of an account'),
    hunk: hunk as number,
    ...fateOf(fields, 'an account'),
  };
}

const otherwiseOf = (value: unknown): HunkFate =>
  fateOf(fieldsOf(value, '"otherwise"', ['fate', 'reason', 'because']), '"otherwise"');

/** Reads what `conflicts resolve` is given. Errors: `stdin-malformed`. */
export function parseResolution(text: string): Omit<Resolution, 'author'> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed(cause instanceof Error ? cause.message : String(cause));
  }
  const allowed = ['results', 'accounts', 'otherwise', 'asOf', 'message', 'rationale'];
  const { results, accounts, otherwise, asOf, message, rationale } = fieldsOf(value, 'it', allowed);
  if (asOf !== undefined && !Number.isSafeInteger(asOf)) throw malformed('"asOf" is no whole number');
  return {
    results: listOf(results, '"results"').map(resultOf),
    ...(accounts !== undefined && { accounts: listOf(accounts, '"accounts"').map(accountOf) }),
    ...(otherwise !== undefined && { otherwise: otherwiseOf(otherwise) }),
    ...(asOf !== undefined && { asOf: asOf as number }),
    ...(message !== undefined && { message: textOf(message, '"message"') }),
    ...(rationale !== undefined && { rationale: textOf(rationale, '"rationale"') }),
  };
}
