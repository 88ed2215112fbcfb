import type { RepoEvent } from '@mound/vcs';
import { taskOfName, type RunId } from '../core/ids.ts';
import type { SwarmEvent } from './event.ts';

/**
 * What an event of the store's feed means to a run; undefined where nothing.
 * Conflicts count where a task of the run made them; marks on files count
 * whoever set them.
 */
export function translate(run: RunId, event: RepoEvent): SwarmEvent | undefined {
  switch (event.kind) {
    case 'conflict.opened': {
      const task = taskOfName(run, event.task);
      return task && { kind: 'conflict.opened', conflict: event.conflict, task, paths: event.paths };
    }
    case 'conflict.resolved':
      return { kind: 'conflict.resolved', conflict: event.conflict, seq: event.seq };
    case 'file.flagged':
    case 'file.frozen':
      return { kind: event.kind, path: event.path, reason: event.reason };
    case 'file.split':
      return { kind: 'file.split', path: event.path, modules: event.modules };
    case 'intent.unparked': {
      const task = taskOfName(run, event.task);
      const { parked, seq } = event;
      return task && { kind: 'work.unparked', task, parked, outcome: unparkedAs(event.outcome), seq };
    }
    case 'file.thawed':
      return { kind: 'file.thawed', path: event.path };
    default:
      return undefined;
  }
}

const unparkedAs = (outcome: string): Extract<SwarmEvent, { kind: 'work.unparked' }>['outcome'] => {
  switch (outcome) {
    case 'landed':
    case 'merged':
    case 'unchanged':
    case 'conflicted':
      return outcome;
    default:
      return 'rejected';
  }
};
