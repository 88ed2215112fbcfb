import type { Command } from 'commander';

export interface MixFlags {
  readonly models?: string;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly plannerModel?: string;
  readonly workerModel?: string;
  readonly mergerModel?: string;
  readonly apiKeyEnv?: string;
  readonly command?: string;
  readonly mailbox?: string;
  readonly replay?: string;
  readonly record?: string;
}

export const withMixFlags = (command: Command): Command =>
  command
    .option('--models <file>', 'model mix as JSON (docs/guides/models.md); or MOUND_MODELS')
    .option('--base-url <url>', 'OpenAI-compatible endpoint, up to and with /v1; or MOUND_BASE_URL')
    .option('--model <name>', 'model of every role at that endpoint; or MOUND_MODEL')
    .option('--planner-model <name>', 'another one for the planner')
    .option('--worker-model <name>', 'another one for the workers')
    .option('--merger-model <name>', 'another one for the mergers')
    .option('--api-key-env <name>', 'NAME of the environment variable that holds the key; or MOUND_API_KEY_ENV')
    .option('--command <command>', 'a shell command as worker (as every role, where there is no endpoint)')
    .option('--mailbox <dir>', 'requests and answers as files, for the roles that nothing else serves')
    .option('--replay <file>', 'answers from a cassette')
    .option('--record <file>', 'record everything into a cassette');
