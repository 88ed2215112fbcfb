interface OverflowWording {
  readonly pattern: RegExp;
}

/**
 * How providers say that a request is longer than the model's context. A group
 * named `limit` is the number of tokens it may have; the first such counts. Add
 * a row with its case in `overflow.test.ts`.
 */
const wordings: readonly OverflowWording[] = [
  // A request that alone is over the rate of a minute can never be served: it has to shrink.
  { pattern: /request too large\b.*?\blimit:? (?<limit>[\d,]+)/is },
  { pattern: /context[_ -]?(?:length|window|size)[_ -]?(?:is |was )?exceeded|exceed_context_size/i },
  { pattern: /max(?:imum)? (?:context|prompt|model|input|sequence) length (?:of |is |= ?|\()?:?\s*(?<limit>[\d,]+)/i },
  { pattern: /prompt is too long:? [\d,]+ tokens > (?<limit>[\d,]+)/i },
  { pattern: /exceed(?:s|ed)? (?:the )?context limit:? .*> ?(?<limit>[\d,]+)/i },
  { pattern: /maximum number of (?:input )?tokens allowed \(?(?<limit>[\d,]+)/i },
  { pattern: /too large for model with (?<limit>[\d,]+) maximum context/i },
  { pattern: /must be <= ?(?<limit>[\d,]+)\. given/i },
  { pattern: /cannot exceed (?<limit>[\d,]+) tokens|tokens in the prompt cannot exceed (?<limit2>[\d,]+)/i },
  { pattern: /model token limit:? ?(?<limit>[\d,]+)/i },
  { pattern: /exceeds the limit of (?<limit>[\d,]+)(?! *(?:requests|per))/i },
  { pattern: /range of input length should be \[\d+, ?(?<limit>[\d,]+)\]/i },
  { pattern: /available context size(?: \((?<limit>[\d,]+))?/i },
  { pattern: /(?:prompt|input|request|conversation|messages?)\b.{0,40}\b(?:is |are |was )?too long/i },
  {
    pattern:
      /(?:exceed\w*|longer than|larger than|greater than|over|beyond|outside|overflow\w*|fit(?:s)? in) .{0,40}\bcontext (?:length|window|size|limit)/i,
  },
  { pattern: /context (?:length|window|size|limit)\b.{0,40}\b(?:exceed|overflow|too small|limit|reached)/i },
  { pattern: /(?:prompt|input)\b.{0,30}\b(?:exceeds?|exceeded|over) .{0,30}\b(?:max(?:imum)?|limit)/i },
  { pattern: /reduce (?:the )?(?:length|size) of (?:the |your )?(?:messages?|prompt|input|request|conversation)/i },
  { pattern: /too many (?:input |prompt )?tokens(?! per)/i },
  { pattern: /(?:input |prompt )?token (?:count|limit|length)\b.{0,30}\bexceed/i },
  { pattern: /model_max_prompt_tokens_exceeded|string_above_max_length|max_tokens_exceeded/i },
];

/** What only sounds alike: rates, quotas, and a wrong wish for the answer's length. */
const otherwise =
  /\bper (?:min|day|hour|second)|\bTPM\b|\bRPM\b|quota|rate[ _-]?limit|^max_(?:completion_)?tokens\b.{0,20}(?:too large|must be|at most)/i;

export interface Overflow {
  /** Tokens that the model takes, where the provider names them. */
  readonly contextTokens: number | undefined;
}

/** The overflow that a provider's error speaks of; undefined where it is about something else. */
export function overflowOf(status: number | undefined, code: string, message: string): Overflow | undefined {
  const text = `${message} ${code}`;
  const limits: (number | undefined)[] = [];
  for (const [at, { pattern }] of wordings.entries()) {
    const match = pattern.exec(text);
    if (match === null) continue;
    if (at > 0 && limits.length === 0 && otherwise.test(message)) return undefined;
    const digits = match.groups?.['limit'] ?? match.groups?.['limit2'];
    limits.push(digits === undefined ? undefined : Number(digits.replaceAll(',', '')));
  }
  if (limits.length === 0) return status === 413 ? { contextTokens: undefined } : undefined;
  return { contextTokens: limits.find((limit) => limit !== undefined && limit > 0) };
}
