import type { CachedReport } from './usage-report.ts';

/** What one provider does otherwise than the rest, as data. */
export interface Quirks {
  /** Asks for usage in the last chunk; a few servers refuse the field. */
  readonly streamUsage: boolean;
  readonly cachedReport: CachedReport;
  /** What becomes of a model's thoughts in later requests. */
  readonly reasoning: 'strip' | 'echo' | 'echo-with-calls';
  /** Further fields of a message that go back as they came. */
  readonly echoedFields: readonly string[];
  /** Calls written as text are taken for calls; only for models that have no other way. */
  readonly salvageCalls: boolean;
  /** Ids of calls that the provider accepts; others are made to fit. */
  readonly callIds: 'any' | 'nine-alphanumeric';
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Content of a message that holds calls alone. */
  readonly emptyContent: 'null' | 'empty';
  /** Of the tools that change files those that the model is offered: the forms of an edit that it is good at. */
  readonly edits: readonly EditForm[];
}

/** Exact search and replace, whole files, or patches. */
export const editForms = ['edit', 'write', 'patch'] as const;
export type EditForm = (typeof editForms)[number];

export const commonQuirks: Quirks = {
  streamUsage: true,
  cachedReport: 'auto',
  reasoning: 'strip',
  echoedFields: ['reasoning_details', 'thinking_blocks', 'extra_content'],
  salvageCalls: false,
  callIds: 'any',
  maxTokensField: 'max_tokens',
  emptyContent: 'null',
  edits: editForms,
};

interface ProviderQuirks {
  readonly provider: string;
  /** Of the base URL's host. */
  readonly host?: RegExp;
  /** Of the model's name, whoever serves it. */
  readonly model?: RegExp;
  readonly quirks: Partial<Quirks>;
}

/** All rows that match apply, later ones over earlier ones; an operator's own come last. */
const table: readonly ProviderQuirks[] = [
  { provider: 'deepseek', model: /deepseek/i, quirks: { reasoning: 'echo-with-calls' } },
  { provider: 'moonshot', model: /kimi/i, quirks: { reasoning: 'echo' } },
  { provider: 'zhipu', model: /\bglm-/i, quirks: { reasoning: 'echo' } },
  { provider: 'minimax', model: /minimax/i, quirks: { reasoning: 'echo' } },
  {
    provider: 'mistral',
    host: /(^|\.)mistral\.ai$/i,
    quirks: { callIds: 'nine-alphanumeric', emptyContent: 'empty', streamUsage: false },
  },
  { provider: 'openai', host: /(^|\.)openai\.(com|azure\.com)$/i, quirks: { maxTokensField: 'max_completion_tokens' } },
  // Trained on patches of this form.
  { provider: 'openai', model: /(^|\/)(gpt-(4\.1|[5-9])|codex)/i, quirks: { edits: ['patch', 'write'] } },
  { provider: 'anthropic', host: /(^|\.)anthropic\.com$/i, quirks: { cachedReport: 'auto' } },
];

/** Quirks of a model at an endpoint; `overrides` are the operator's. */
export function quirksOf(baseURL: string, model: string, overrides: Partial<Quirks> = {}): Quirks {
  const { hostname } = new URL(baseURL);
  const rows = table.filter((row) => row.host?.test(hostname) === true || row.model?.test(model) === true);
  return Object.assign({}, commonQuirks, ...rows.map(({ quirks }) => quirks), overrides) as Quirks;
}

/** False of a tool that changes files in a form that the model is not offered. */
export const isOffered = ({ edits }: Quirks, tool: string): boolean =>
  !(editForms as readonly string[]).includes(tool) || (edits as readonly string[]).includes(tool);
