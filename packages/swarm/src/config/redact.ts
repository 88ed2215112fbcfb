import type { JsonValue } from '../core/json.ts';
import type { EffectiveConfig } from './config.ts';

const gone = '(removed)';
const isSecretName = (name: string): boolean => /key|token|secret|passw|auth|credential/i.test(name);

/** The configuration as it may be shown: what looks like a secret is removed from it. */
export function redacted(config: EffectiveConfig, env: NodeJS.ProcessEnv): JsonValue {
  // What an agent's environment holds under a telling name stands nowhere, however it got there.
  const values = Object.entries(env).flatMap(([name, value]) =>
    isSecretName(name) && value !== undefined && value.length >= 6 ? [value] : [],
  );
  const clean = (text: string): string =>
    values.reduce((left, value) => left.replaceAll(value, gone), withoutUrlSecrets(text));
  return walk(config as unknown as JsonValue, '', clean);
}

/** Names of variables are no secrets, nor are counts of tokens. */
const isPlainName = (name: string): boolean => /Env$|tokens/i.test(name);

function walk(value: JsonValue | undefined, name: string, clean: (text: string) => string): JsonValue {
  if (typeof value === 'string') return isSecretName(name) && !isPlainName(name) ? gone : clean(value);
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).map((part, at, all) => ofList(part, all[at - 1], name, clean));
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, walk(part as JsonValue, key, clean)]));
}

/** `--api-key X` and `--api-key=X` of a command. */
function ofList(
  part: JsonValue,
  before: JsonValue | undefined,
  name: string,
  clean: (text: string) => string,
): JsonValue {
  if (typeof part !== 'string' || name === 'env') return walk(part, '', clean);
  if (typeof before === 'string' && /^--?[\w-]+$/.test(before) && isSecretName(before)) return gone;
  const given = /^(--?[\w-]+=)/.exec(part)?.[1];
  return given !== undefined && isSecretName(given) ? `${given}${gone}` : clean(part);
}

function withoutUrlSecrets(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return text;
  const url = new URL(text);
  const isPlain = url.username === '' && url.password === '' && url.search === '';
  if (isPlain) return text;
  for (const key of url.searchParams.keys()) url.searchParams.set(key, gone);
  url.username = '';
  url.password = '';
  return url.href;
}
