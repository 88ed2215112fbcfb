import type { SwarmEvent } from '../events/event.ts';

const charsMax = 300;
/** Models and commands write as they like: one line of it. */
const short = (text: string): string => {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  return line.length <= charsMax ? line : `${line.slice(0, charsMax)}…`;
};

/** What one line tells of an event, where no picture can be drawn; undefined where nobody needs to know. Pure. */
export function lineOf(event: SwarmEvent): string | undefined {
  switch (event.kind) {
    case 'agent.waiting':
      return `${event.agent} waits until ${new Date(event.until).toISOString()}: ${event.reason}`;
    case 'agent.warned':
      return `${event.agent}: ${event.says}`;
    case 'agent.ended':
      // Of a worker the task's line says it.
      if (event.detail === undefined || event.role === 'worker') return undefined;
      return `${event.agent} ended (${event.reason}): ${short(event.detail)}`;
    case 'task.finished': {
      const { task, report } = event;
      const { status, concerns } = report.handoff;
      const why = status === 'done' || status === 'nothing-to-do' ? undefined : concerns.at(-1);
      return `task ${task}: ${status}, ${report.outcome}${why === undefined ? '' : `: ${short(why)}`}`;
    }
    case 'task.reopened':
      return `a try of task ${event.task} came to nothing: ${short(event.reason)}`;
    case 'task.given-up':
      return `task ${event.task} is given up after ${event.attempts} tries`;
    case 'question.asked':
      return `question ${event.question}: ${short(event.text)}; 'mound swarm answer ${event.question} TEXT' answers it`;
    case 'conflict.opened':
      return `conflict ${event.conflict} of ${event.task}: ${event.paths.join(', ')}`;
    case 'green.broken':
      return `landing ${event.seq} by ${event.agent ?? 'somebody'} broke the check of green: ${event.action}`;
    case 'run.paused':
      return `paused: ${event.reason}`;
    case 'run.unpaused':
      return 'goes on';
    case 'goal.changed':
      return `the goal is now: ${short(event.goal)}`;
    case 'run.stopping':
      return `stopping: ${event.reason}${event.detail === undefined ? '' : ` (${event.detail})`}`;
    default:
      return undefined;
  }
}
