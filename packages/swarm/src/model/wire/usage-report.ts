import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts';
import type { Usage } from '../../core/usage.ts';

/** Whether a provider's input tokens contain the cached ones; `auto` tells by the report itself. */
export type CachedReport = 'inclusive' | 'separate' | 'auto';

export interface ReportedUsage {
  readonly usage: Usage;
  readonly costUsd: number | undefined;
}

const countOf = (value: JsonValue | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;

/** The first of the names (with dots for a field of a field) that holds a count. */
function first(report: JsonObject, ...names: string[]): number | undefined {
  for (const name of names) {
    const [key = '', inner] = name.split('.');
    const value = report[key];
    const count = inner === undefined ? countOf(value) : isJsonObject(value) ? countOf(value[inner]) : undefined;
    if (count !== undefined) return count;
  }
  return undefined;
}

/**
 * What a provider reports of one request, in one form: input tokens contain the
 * cached ones. undefined where the report says nothing (all zeros included).
 */
export function readUsage(report: JsonObject, cachedReport: CachedReport): ReportedUsage | undefined {
  const prompt = first(report, 'prompt_tokens', 'input_tokens');
  const output = first(report, 'completion_tokens', 'output_tokens');
  const read =
    first(
      report,
      'prompt_tokens_details.cached_tokens',
      'input_tokens_details.cached_tokens',
      'prompt_cache_hit_tokens',
      'cache_read_input_tokens',
      'cached_tokens',
    ) ?? 0;
  const written =
    first(
      report,
      'cache_creation_input_tokens',
      'prompt_tokens_details.cache_creation_tokens',
      'prompt_tokens_details.cache_write_tokens',
    ) ?? 0;
  if ((prompt ?? 0) + (output ?? 0) + read + written <= 0) return undefined;
  const isSeparate =
    cachedReport === 'auto'
      ? looksSeparate(report, prompt ?? 0, output ?? 0, read + written)
      : cachedReport === 'separate';
  const inputTokens = (prompt ?? 0) + (isSeparate ? read + written : 0);
  return {
    usage: {
      inputTokens,
      outputTokens: output ?? 0,
      cachedTokens: Math.min(read, inputTokens),
      ...(written > 0 && { cacheWriteTokens: written }),
      estimated: false,
    },
    costUsd: first(report, 'cost'),
  };
}

function looksSeparate(report: JsonObject, prompt: number, output: number, cached: number): boolean {
  if (cached === 0) return false;
  // More cached than there is cannot be a part of it.
  if (cached > prompt) return true;
  const total = first(report, 'total_tokens');
  if (total === prompt + output + cached) return true;
  const isNamedApart = 'cache_read_input_tokens' in report || 'cache_creation_input_tokens' in report;
  return isNamedApart && 'input_tokens' in report;
}
