import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import { ModelError, type ModelErrorCode, type ModelErrorMore } from '../model-error.ts';
import { overflowOf } from './overflow.ts';

/** What a provider says went wrong, in one form. */
export interface ProviderFault {
  readonly status: number | undefined;
  /** `code` and `type` of the error, where they are words. */
  readonly words: string;
  readonly message: string;
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** Errors come as an object, a text, or fields of the body itself; their code as a number, a number in a text, or a word. */
export function readFault(body: JsonValue | undefined, status: number | undefined): ProviderFault {
  const outer = isJsonObject(body) ? body : {};
  const error = outer['error'];
  const fields: JsonObject = isJsonObject(error) ? error : outer;
  const codes = [fields['code'], fields['status'], fields['status_code'], fields['type'], outer['code'], outer['type']];
  const numbers = codes.map(Number).filter((code) => code >= 400 && code < 600);
  const words = codes.map((code) => (Number.isNaN(Number(code)) ? textOf(code) : '')).filter((word) => word !== '');
  const detail = outer['detail'];
  const message =
    textOf(fields['message']) ||
    textOf(error) ||
    textOf(detail) ||
    textOf(outer['message']) ||
    textOf(body) ||
    (body === undefined || body === null ? '' : JSON.stringify(body));
  // What an aggregator passes on says more than its own words.
  const metadata = fields['metadata'];
  const raw = isJsonObject(metadata) ? textOf(metadata['raw']) : '';
  return {
    status: status ?? numbers[0],
    words: words.join(' '),
    message: raw === '' ? message : `${message}: ${raw}`.slice(0, 2000),
  };
}

const noMoney =
  /insufficient[_ ](?:quota|balance|funds|credits?)|billing[_ ](?:hard|not)|payment[_ ]required|credit balance|exceeded_current_quota|out of credits|arrears|(?<!RESOURCE_EXHAUSTED.*)check your plan and billing/i;
const tooMuch =
  /rate[_ -]?limit|too[_ ]many[_ ]requests|throttl|overloaded|resource[_ ]exhausted|engine_busy|capacity/i;
const broken = /server_error|internal|unavailable|bad gateway|timeout|overloaded|upstream|api_error/i;
const filtered = /content[_ ](?:filter|policy)|responsibleai|data_inspection_failed|safety/i;

/** What kind of failure it is: by the words where they are plain, else by the status. */
export function classify({ status, words, message }: ProviderFault): ModelErrorCode {
  const text = `${words} ${message}`;
  if (status === 402 || noMoney.test(text)) return 'quota-exhausted';
  if (overflowOf(status, words, message) !== undefined) return 'context-overflow';
  if (status === 429 || status === 529) return 'rate-limited';
  if (status === 401 || status === 403 || status === 404) return 'refused';
  if (status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 409 && status !== 425) {
    if (filtered.test(text)) return 'filtered';
    return tooMuch.test(words) ? 'rate-limited' : 'refused';
  }
  if (status !== undefined) return 'provider';
  if (tooMuch.test(text)) return 'rate-limited';
  if (filtered.test(text)) return 'filtered';
  if (broken.test(text) || words === '') return 'provider';
  return /invalid|not[_ ]found|unsupported|authentication|permission/i.test(words) ? 'refused' : 'provider';
}

/** The typed error for what a provider says, where it stood in `place`. */
export function providerError(fault: ProviderFault, place: string, more: ModelErrorMore = {}): ModelError {
  const code = classify(fault);
  const said = fault.message.slice(0, 500) || fault.words || 'no reason given';
  const status = fault.status === undefined ? '' : ` ${fault.status}`;
  return new ModelError(code, `${place}${status}: ${said}`, {
    ...more,
    status: fault.status,
    retryAfterMs: more.retryAfterMs ?? (code === 'rate-limited' ? waitInWords(fault.message) : undefined),
    contextTokens:
      code === 'context-overflow' ? overflowOf(fault.status, fault.words, fault.message)?.contextTokens : undefined,
  });
}

/** `retry-after-ms`, `retry-after` in seconds or as a date. */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const ms = Number(headers.get('retry-after-ms') ?? Number.NaN);
  if (ms >= 0) return ms;
  const text = headers.get('retry-after');
  if (text === null || text.trim() === '') return undefined;
  const seconds = Number(text);
  if (seconds >= 0) return seconds * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

/** Some say it in the message only: `try again in 1.5s`, `retryDelay: "27s"`. */
function waitInWords(message: string): number | undefined {
  const match =
    /(?:try again|retry) (?:in|after) (?:(\d+)m(?!s))?([\d.]+) ?(ms|s\b|sec)|retryDelay"?: ?"([\d.]+)s"/i.exec(message);
  if (match === null) return undefined;
  const [, minutes = '0', amount = '0', unit = 's', delay] = match;
  if (delay !== undefined) return Number(delay) * 1000;
  return Number(minutes) * 60_000 + Number(amount) * (unit.toLowerCase() === 'ms' ? 1 : 1000);
}
