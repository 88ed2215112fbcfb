import type { DiscardCause, HunkAccount, HunkFate } from '../core/intent.ts';
import { isMode } from '../core/mode.ts';
import type { Resolution } from '../repo/api.ts';
import { bytesOfBase64, countOf, fieldsOf, listOf, oneOf, optional, textOf, WireFault, type Fields } from './fields.ts';
import { bytesFields } from './intent.ts';

function resultOf(value: unknown): Resolution['results'][number] {
  const fields = fieldsOf(value, 'a result', ['path', 'content', 'contentBase64', 'mode', 'at']);
  const path = textOf(fields['path'], 'the path of a result');
  const { content, contentBase64, mode, at } = fields;
  if (mode !== undefined && !isMode(mode)) throw new WireFault(`the mode of ${path} is ${JSON.stringify(mode)}`);
  const isOne = (content === undefined) !== (contentBase64 === undefined);
  if (!isOne) throw new WireFault(`${path} needs "content" (null deletes it) or "contentBase64"`);
  const bytes =
    contentBase64 !== undefined
      ? bytesOfBase64(contentBase64, `the contentBase64 of ${path}`)
      : content === null
        ? null
        : textOf(content, `the content of ${path}`);
  return {
    path,
    content: bytes,
    ...(mode !== undefined && { mode }),
    ...optional('at', at, textOf, `the "at" of ${path}`),
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

const fateOf = ({ fate, reason, because }: Fields, what: string): HunkFate => ({
  fate: oneOf(fate, fates, `the fate of ${what}`),
  ...optional('reason', reason, textOf, `the reason of ${what}`),
  ...optional('because', because, causeOf),
});

function accountOf(value: unknown): HunkAccount {
  const fields = fieldsOf(value, 'an account', ['path', 'side', 'hunk', 'fate', 'reason', 'because']);
  return {
    path: textOf(fields['path'], 'the path of an account'),
    side: oneOf(fields['side'], ['current', 'incoming'], 'the side of an account'),
    hunk: countOf(fields['hunk'], 'the hunk of an account'),
    ...fateOf(fields, 'an account'),
  };
}

const otherwiseOf = (value: unknown): HunkFate =>
  fateOf(fieldsOf(value, '"otherwise"', ['fate', 'reason', 'because']), '"otherwise"');

/** What closes a conflict, but for who does. Errors: {@link WireFault}. */
export function resolutionOf(value: unknown): Omit<Resolution, 'author' | 'records'> {
  const allowed = ['results', 'accounts', 'otherwise', 'asOf', 'message', 'rationale', 'operationId'];
  const { results, accounts, otherwise, asOf, message, rationale, operationId } = fieldsOf(value, 'it', allowed);
  return {
    results: listOf(results, '"results"').map(resultOf),
    ...optional('accounts', accounts, (list, what) => listOf(list, what).map(accountOf)),
    ...optional('otherwise', otherwise, otherwiseOf),
    ...optional('asOf', asOf, countOf),
    ...optional('message', message, textOf),
    ...optional('rationale', rationale, textOf),
    ...optional('operationId', operationId, textOf),
  };
}

/** The same the other way round. */
export const resolutionFields = ({ results, ...rest }: Omit<Resolution, 'author' | 'records'>): object => ({
  ...rest,
  results: results.map(({ content, ...result }) => ({
    ...result,
    ...(content === null || typeof content === 'string' ? { content } : bytesFields('content', content)),
  })),
});
