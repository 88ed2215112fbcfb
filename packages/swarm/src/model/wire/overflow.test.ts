import { expect, test } from 'vitest';
import { failure, failureOf, faultServer, askAt, status } from '../fault-server.test.kit.ts';
import { classify } from './classify.ts';
import { overflowOf } from './overflow.ts';

/** Wordings as users of these servers have reported them. */
test.each([
  [
    400,
    'context_length_exceeded',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 10563 tokens.",
    8192,
  ],
  [
    400,
    '',
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
    32_768,
  ],
  [
    400,
    'context_length_exceeded',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    undefined,
  ],
  [400, 'invalid_request_error', 'prompt is too long: 210231 tokens > 200000 maximum', 200_000],
  [
    400,
    'invalid_request_error',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length',
    200_000,
  ],
  [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    1_048_576,
  ],
  [400, '', 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.', 4096],
  [400, 'exceed_context_size_error', 'the request exceeds the available context size, try increasing it', undefined],
  [500, '', 'the request exceeds the available context size (4096 tokens), try increasing it', 4096],
  [
    400,
    '',
    'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    32_768,
  ],
  [400, '', 'Please reduce the length of the messages or completion.', undefined],
  [
    422,
    '',
    '`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens and 100 `max_new_tokens`',
    4097,
  ],
  [400, 'ValidationException', 'Input is too long for requested model.', undefined],
  [400, '', 'too many tokens: total number of tokens in the prompt cannot exceed 4081', 4081],
  [400, '', "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072],
  [400, 'invalid_request_error', 'Invalid request: Your request exceeded model token limit: 8192', 8192],
  [400, 'invalid_parameter_error', 'Range of input length should be [1, 98304]', 98_304],
  [400, '1261', 'Prompt exceeds max length', undefined],
  [400, '', 'context window exceeds limit (2013)', undefined],
  [400, 'model_max_prompt_tokens_exceeded', 'prompt token count of 90000 exceeds the limit of 64000', 64_000],
  [
    413,
    'rate_limit_exceeded',
    'Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce your message size',
    6000,
  ],
  [
    429,
    'tokens',
    'Request too large for gpt-x in organization o on tokens per min (TPM): Limit 10,000, Requested 12000.',
    10_000,
  ],
  [413, '', 'Request Entity Too Large', undefined],
  [400, '', 'prompt too long; exceeded max context length by 311 tokens', undefined],
])('row 33: %i %s "%s" is an overflow, limit %s', (at, words, message, contextTokens) => {
  expect(overflowOf(at, words, message)).toEqual({ contextTokens });
  expect(classify({ status: at, words, message })).toBe('context-overflow');
});

test.each([
  [
    429,
    'rate_limit_exceeded',
    'Rate limit reached for gpt-x on tokens per min (TPM): Limit 10000, Used 9500, Requested 800. Please try again in 1.8s.',
    'rate-limited',
  ],
  [
    429,
    'RESOURCE_EXHAUSTED',
    'You exceeded your current quota, please check your plan and billing details. retryDelay: "27s"',
    'rate-limited',
  ],
  [400, '', 'max_tokens is too large: 100000. This model supports at most 16384 completion tokens', 'refused'],
  [400, '', 'messages: text content blocks must be non-empty', 'refused'],
  [400, '', 'Too many tokens per day for this key', 'refused'],
  [404, 'model_not_found', 'The model `x` does not exist', 'refused'],
  [401, 'invalid_api_key', 'Incorrect API key provided', 'refused'],
  [400, 'content_filter', 'The response was filtered due to the prompt triggering the content policy', 'filtered'],
  [503, '', 'Service temporarily unavailable', 'provider'],
  [529, 'overloaded_error', 'Overloaded', 'rate-limited'],
  [408, '', 'timeout', 'provider'],
] as const)('%i %s "%s" is none: %s', (at, words, message, code) => {
  expect(classify({ status: at, words, message })).toBe(code);
});

test('over the wire: in whatever form the body says it', async () => {
  const message = "This model's maximum context length is 4096 tokens";
  for (const body of [{ error: { message } }, { error: message }, { message }, { detail: message }, message]) {
    const error = await failure({}, status(400, body));
    expect([error.code, error.contextTokens, error.isRetryable]).toEqual(['context-overflow', 4096, false]);
  }
});

test('what to wait is taken from wherever it is said', async () => {
  const future = new Date(Date.now() + 3600_000).toUTCString();
  for (const [headers, body, seconds] of [
    [{ 'retry-after': '3600' }, {}, 3600],
    [{ 'retry-after': future }, {}, 3600],
    [{ 'retry-after-ms': '1500' }, {}, 1.5],
    [{}, { error: { message: 'Please try again in 1.8s.' } }, 1.8],
    [{}, { error: { message: 'Please try again in 2m3s.' } }, 123],
    [{}, { error: { message: 'Please try again in 350ms.' } }, 0.35],
    [{ 'retry-after': 'soon' }, {}, undefined],
  ] as const) {
    const server = await faultServer(status(429, body, headers));
    const error = await failureOf(askAt(server.url, {}));
    expect(error.code).toBe('rate-limited');
    if (seconds === undefined) expect(error.retryAfterMs).toBeUndefined();
    else expect((error.retryAfterMs ?? 0) / 1000).toBeCloseTo(seconds, seconds === 3600 ? -1 : 3);
  }
});
