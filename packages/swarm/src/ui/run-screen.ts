import { rootTask } from '../core/ids.ts';
import { formatCost } from '../cost/cost-ledger.ts';
import type { PlannerState, SwarmState, TaskState } from '../state/state.ts';
import type { RunWatch } from './run-watch.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

type Paint = (text: string) => string;
const plain: Paint = (text) => text;
const sgr =
  (code: number): Paint =>
  (text) =>
    `\u001B[${code}m${text}\u001B[0m`;

interface Line {
  readonly text: string;
  readonly paint: Paint;
}

/** Lines that show how a run stands now; none is wider than the screen, nor are there more than it has rows. Pure. */
export function renderScreen(watch: RunWatch, now: number, size: ScreenSize, isColoured: boolean): string[] {
  const [bold, dim, yellow, red] = isColoured ? [sgr(1), sgr(2), sgr(33), sgr(31)] : [plain, plain, plain, plain];
  const { state, tasks, intents, cost } = watch;
  const line = (text: string, paint: Paint = plain): Line => ({ text, paint });
  const waits = waitingOf(watch);
  const open = [...state.conflicts.values()].filter(({ status }) => status === 'open' || status === 'assigned').length;
  const head = [
    line(`run ${state.run ?? '?'}  ${phaseOf(state)}  ${clock(now - watch.startedAt)}  ${oneLine(state.goal)}`, bold),
    line(
      `tasks   ${tasks.ended} ended, ${state.tasks.size} at work, ${state.queue.length} open, ${tasks.created} in all`,
    ),
    line(`agents  ${agentsOf(state)}`),
    line(`landed  ${intents.landed} and ${intents.merged} merged, ${rateOf(watch, now)} a minute`),
    line(
      `conflicts  ${open} open, ${intents.conflicted} met, ${intents.resolved} resolved${shareOf(intents)}`,
      open > 0 ? yellow : plain,
    ),
    line(`cost    ${cost === undefined ? 'nothing yet' : `${formatCost(cost)}; ${tokensOf(cost.usage)}`}`),
    ...[...watch.questions].map(([id, text]) => line(`question ${id}: ${oneLine(text)}`, yellow)),
    ...waits.map((text) => line(text, state.phase === 'paused' ? dim : red)),
  ];
  const room = Math.max(1, size.rows - head.length);
  const tree = treeOf(state);
  const shown = tree.length <= room ? tree : [...tree.slice(0, room - 1), `… ${tree.length - room + 1} more`];
  return [...head, ...shown.map((text) => line(text, dim))]
    .slice(0, Math.max(1, size.rows))
    .map(({ text, paint }) => paint(fit(text, size.columns)));
}

const oneLine = (text: string): string => printable(text).trim().replaceAll(/\s+/g, ' ');
/** Titles and goals are written by others: nothing in them steers the terminal. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
function fit(text: string, columns: number): string {
  const clean = printable(text);
  if (clean.length <= columns) return clean;
  // Not between the halves of a letter.
  return `${clean.slice(0, Math.max(0, columns - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

const phaseOf = ({ phase, endReason }: SwarmState): string =>
  endReason === undefined ? phase : `${phase} (${endReason})`;

function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  return `${hours > 0 ? `${hours}:` : ''}${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function agentsOf(state: SwarmState): string {
  const counts = new Map<string, number>();
  for (const { role } of state.agents.values()) counts.set(role, (counts.get(role) ?? 0) + 1);
  const told = [...counts].map(([role, count]) => `${count} ${role}${count === 1 ? '' : 's'}`);
  const parked = [...state.agents.values()].filter(({ waitingUntil }) => waitingUntil !== undefined).length;
  return `${told.join(', ') || 'none'}${parked > 0 ? `; ${parked} waiting` : ''}`;
}

const rateOf = ({ landedAt }: RunWatch, now: number): number => landedAt.filter((at) => at > now - 60_000).length;

function shareOf({ landed, merged, conflicted, resolved }: RunWatch['intents']): string {
  const all = landed + merged + resolved + conflicted;
  return conflicted === 0 ? '' : ` (${((conflicted / all) * 100).toFixed(0)} % of intents)`;
}

const tokensOf = ({
  inputTokens,
  outputTokens,
  estimated,
}: {
  inputTokens: number;
  outputTokens: number;
  estimated: boolean;
}): string => `${estimated ? '~' : ''}${(inputTokens + outputTokens).toLocaleString('en-US')} tokens`;

/** One line for all that wait until the same time. */
function waitingOf({ state, waits }: RunWatch): string[] {
  const groups = new Map<string, string[]>();
  for (const { id, waitingUntil } of state.agents.values()) {
    if (waitingUntil === undefined) continue;
    const key = `until ${new Date(waitingUntil).toISOString().slice(11, 19)}: ${oneLine(waits.get(id) ?? '')}`;
    groups.set(key, [...(groups.get(key) ?? []), id]);
  }
  return [...groups].map(
    ([key, ids]) =>
      `waiting  ${ids.slice(0, 3).join(', ')}${ids.length > 3 ? ` and ${ids.length - 3} more` : ''} ${key}`,
  );
}

/** Planners with their tasks at work below them. */
function treeOf(state: SwarmState): string[] {
  const lines: string[] = [];
  const show = (planner: PlannerState, depth: number): void => {
    const indent = '  '.repeat(depth);
    const name = planner.id === rootTask ? 'goal' : planner.id;
    lines.push(`${indent}${name}  ${planner.phase}, ${planner.unsettled} open`);
    for (const task of state.tasks.values())
      if (task.parent === planner.id && !task.plans) lines.push(`${indent}  ${taskLine(task)}`);
    for (const below of state.planners.values()) if (below.parent === planner.id) show(below, depth + 1);
  };
  const root = state.planners.get(rootTask);
  if (root !== undefined) show(root, 0);
  return lines;
}

const taskLine = ({ id, title, status, agent }: TaskState): string =>
  `${id}  ${agent ?? ''} ${status}${title === '' || title === id ? '' : `  ${oneLine(title)}`}`;
