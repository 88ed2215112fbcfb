import type { SwarmEvent } from '../events/event.ts';

/** What one line tells of an event, where no picture can be drawn; undefined where nobody needs to know. Pure. */
export function lineOf(event: SwarmEvent): string | undefined {
  switch (event.kind) {
    case 'agent.waiting':
      return `${event.agent} waits until ${new Date(event.until).toISOString()}: ${event.reason}`;
    case 'agent.warned':
      return `${event.agent}: ${event.says}`;
    case 'agent.ended':
      return event.detail === undefined ? undefined : `${event.agent} ended (${event.reason}): ${event.detail}`;
    case 'task.finished': {
      const { task, report } = event;
      return `task ${task}: ${report.handoff.status}, ${report.outcome}`;
    }
    case 'task.reopened':
      return `task ${event.task} is opened again: ${event.reason}`;
    case 'conflict.opened':
      return `conflict ${event.conflict} of ${event.task}: ${event.paths.join(', ')}`;
    case 'green.broken':
      return `landing ${event.seq} by ${event.agent ?? 'somebody'} broke the check of green: ${event.action}`;
    case 'run.paused':
      return `paused: ${event.reason}`;
    case 'run.stopping':
      return `stopping: ${event.reason}${event.detail === undefined ? '' : ` (${event.detail})`}`;
    default:
      return undefined;
  }
}
