import { readFileSync } from 'node:fs';
import { toolsOfKind, type Role, type RoleKind, type ToolName } from '../core/role.ts';

/** A prompt file: one a role, with its version in the head. */
export interface PromptFile {
  readonly role: string;
  readonly version: number;
  readonly text: string;
}

/** Reads a prompt file's text. Errors: `TypeError` where its head is missing. */
export function parsePrompt(file: string, source: string): PromptFile {
  const match = /^---\nrole: ([a-z-]+)\nversion: (\d+)\n---\n\n([\s\S]+)$/.exec(source.replaceAll('\r\n', '\n'));
  if (match === null)
    throw new TypeError(`${file}: a prompt begins with ---, role: NAME, version: N, --- and a blank line`);
  const [, role = '', version, text = ''] = match;
  return { role, version: Number(version), text: text.trimEnd() };
}

const promptsDir = new URL('../../prompts/', import.meta.url);

/** Of a shipped role. */
export function shippedPrompt(name: string): PromptFile {
  const url = new URL(`${name}.md`, promptsDir);
  return parsePrompt(url.pathname, readFileSync(url, 'utf8'));
}

const turnsMax: Readonly<Record<RoleKind, number>> = {
  planner: 2000,
  worker: 60,
  merger: 12,
  reconciler: 30,
  decomposer: 40,
  reviewer: 20,
};

/** `claim` and `board` are for peers that nobody directs. */
const peersOnly: readonly ToolName[] = ['claim', 'board'];

const roleOf = (name: string, kind: RoleKind, tools: readonly ToolName[]): Role => ({
  name,
  kind,
  model: kind,
  maxTurns: turnsMax[kind],
  tools,
  prompt: shippedPrompt(name).text,
});

/** The roles that a run has where its caller gives no others. */
export function shippedRoles(): Readonly<Record<RoleKind | 'peer', Role>> {
  return {
    planner: roleOf('planner', 'planner', toolsOfKind.planner),
    worker: roleOf(
      'worker',
      'worker',
      toolsOfKind.worker.filter((tool) => !peersOnly.includes(tool)),
    ),
    merger: roleOf('merger', 'merger', toolsOfKind.merger),
    reconciler: roleOf('reconciler', 'reconciler', toolsOfKind.reconciler),
    decomposer: roleOf('decomposer', 'decomposer', toolsOfKind.decomposer),
    reviewer: roleOf('reviewer', 'reviewer', toolsOfKind.reviewer),
    peer: { ...roleOf('peer', 'worker', toolsOfKind.worker), maxTurns: 400 },
  };
}
