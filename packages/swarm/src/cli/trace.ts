import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Repo } from '@mound/vcs';
import type { RunView } from '../runtime/run-view.ts';
import { livesIn } from '../runtime/transcript-costs.ts';
import { readTranscript, type TranscriptLine } from '../runtime/transcript.ts';
import { UsageError } from './usage-error.ts';

/** What the transcripts hold of an agent, or of all agents of a task, by time. Errors: `UsageError`. */
export function traceOf(repo: Repo, { run }: RunView, name: string, isRaw: boolean): string[] {
  const directory = join(repo.dir, '.mound', 'swarm', run);
  const lives = filesOf(directory).flatMap((file) => livesIn(readTranscript(join(directory, file)).lines));
  const found = lives.filter(({ start }) => start.agent === name || start.task === name || start.conflict === name);
  if (found.length === 0) {
    const known = [...new Set(lives.map(({ start }) => start.agent))];
    throw new UsageError(
      known.length === 0
        ? `there are no transcripts in ${directory}`
        : `no agent or task '${name}' in the transcripts of ${run}; agents are ${known.slice(0, 20).join(', ')}`,
    );
  }
  return found
    .toSorted((left, right) => left.start.at - right.start.at)
    .flatMap(({ lines }) => lines.flatMap((line) => (isRaw ? [JSON.stringify(line)] : readable(line))));
}

function filesOf(directory: string): string[] {
  try {
    return readdirSync(directory).filter((file) => file.endsWith('.jsonl'));
  } catch {
    return [];
  }
}

function readable(line: TranscriptLine): string[] {
  const time = new Date(line.at).toISOString();
  const say = (text: string): string[] => [`${time} ${text.trim().replaceAll('\n', '\n    ')}`];
  switch (line.kind) {
    case 'start':
      return say(
        `${line.agent} (${line.role}, ${line.model}) on ${line.conflict ?? line.task}, generation ${line.generation}`,
      );
    case 'message': {
      const { role, content } = line.message;
      const calls = line.message.role === 'assistant' ? (line.message.calls ?? []) : [];
      const texts = calls.map((call) => `-> ${call.name} ${JSON.stringify(call.arguments)}`);
      return [content === '' ? '' : `${role}: ${content}`, ...texts].filter((text) => text !== '').flatMap(say);
    }
    case 'spent':
      return say(`request${line.failed ? ' failed' : ''}, ${Math.round(line.ms)} ms`);
    case 'told':
      return say(`told of ${line.tasks.join(', ')}`);
    case 'end':
      return say(`ended: ${line.reason}`);
    case 'asked':
      return [];
  }
}
