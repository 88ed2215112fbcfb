import { absent, version, type Outcome } from '@mound/vcs';
import type { AgentId } from '../core/ids.ts';
import type { Task } from '../core/task.ts';
import { refused, type Refusal } from '../tools/operations.ts';
import type { RunContext } from './run-context.ts';

/** The Field Guide's index as it stands: what every agent is told at its start; empty where there is none. */
export function guideOf(context: RunContext): string {
  const { guide } = context.parts.policy;
  return guide === undefined || !context.isOn('field-guide')
    ? ''
    : (context.repo.snapshot().readText(`${guide.folder}/index.md`) ?? '');
}

/** Adds a line to the index; over its line budget it is refused, so that who adds has to prune. */
export async function noteInGuide(
  context: RunContext,
  agent: AgentId,
  task: Task,
  text: string,
  operationId: string,
): Promise<Outcome | Refusal> {
  const { guide } = context.parts.policy;
  if (guide === undefined || !context.isOn('field-guide'))
    return refused('this run has no Field Guide. Say it in your findings.');
  const path = `${guide.folder}/index.md`;
  const line = `- ${text.replaceAll(/\s*\n\s*/g, ' ').trim()}\n`;
  for (let tries = 1; ; tries++) {
    const snapshot = context.repo.snapshot();
    const head = snapshot.head(path);
    const before = snapshot.readText(path) ?? '';
    if (before.split('\n').length > guide.linesMax) {
      return refused(
        `nothing was noted: ${path} has its ${guide.linesMax} lines. Edit it: take out what helps nobody, then add your line.`,
      );
    }
    const content = `${before === '' || before.endsWith('\n') ? before : `${before}\n`}${line}`;
    const outcome = await context.repo.land({
      author: context.author(context.role(task.role), agent),
      message: 'note in the Field Guide',
      operationId,
      // Two lines at the same place would be a conflict; here their order means nothing.
      onStale: 'reject',
      changes: [{ kind: 'put', path, content, expect: head === undefined ? absent : version(head.version) }],
    });
    if (outcome.kind !== 'rejected' || outcome.code !== 'stale' || tries >= triesMax) return outcome;
  }
}

/** Others who note at the same moment. */
const triesMax = 20;
