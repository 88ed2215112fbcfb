import { Option, type Command } from 'commander';
import { rootTask, type TaskId } from '../core/ids.ts';
import { addCosts, formatCost, formatTokens, type CostSum } from '../cost/cost-ledger.ts';
import { shippedPrompt, shippedRoles } from '../roles/roles.ts';
import { isHeld, sha256, type RunHeader } from '../runtime/run-header.ts';
import { greenLines } from '../runtime/green-summary.ts';
import type { RunView } from '../runtime/run-view.ts';
import { agentsAtWork, type AgentAtWork } from '../runtime/agents-at-work.ts';
import { namesOf, runNamed, withRepo } from './named-run.ts';
import { traceOf } from './trace.ts';
import { UsageError } from './usage-error.ts';

const sumsBy = ['role', 'task', 'agent', 'model'] as const;
type By = (typeof sumsBy)[number];

interface ViewFlags {
  readonly repo: string;
  readonly json?: true;
  readonly jsonl?: true;
}

/** Commands that show a run, also while another process runs it. */
export function addViews(program: Command): void {
  const add = (name: string, says: string): Command =>
    program.command(name).description(says).option('--repo <dir>', 'repository', '.');
  const json = '--json';
  const jsonSays = 'one JSON object on one line';
  add('status', 'how a run stands')
    .argument('[run]', 'default: the newest')
    .option(json, jsonSays)
    .action((run: string | undefined, flags: ViewFlags) =>
      withRepo(flags.repo, (repo) => {
        const view = runNamed(repo, run);
        status(view, agentsAtWork(repo, view), flags);
      }),
    );
  add('costs', 'what the agents of a run have spent')
    .argument('[run]', 'default: the newest')
    .addOption(new Option('--by <what>', 'sums by').choices(sumsBy).default('role'))
    .option(json, jsonSays)
    .action((run: string | undefined, flags: ViewFlags & { readonly by: By }) =>
      withRepo(flags.repo, (repo) => {
        const view = runNamed(repo, run);
        costs(view, agentsAtWork(repo, view), flags);
      }),
    );
  add('trace', 'what an agent said, was told and spent')
    .argument('<agent>', 'agent, or task')
    .argument('[run]', 'default: the newest')
    .option('--jsonl', 'the lines as they were kept')
    .action((agent: string, run: string | undefined, flags: ViewFlags) =>
      withRepo(flags.repo, (repo) => {
        for (const line of traceOf(repo, runNamed(repo, run), agent, flags.jsonl === true)) console.log(line);
      }),
    );
  program
    .command('prompts')
    .description('the prompts of the roles: version and hash, with the text of one that is named')
    .argument('[role]')
    .option(json, jsonSays)
    .action(prompts);
}

export type RunState = RunHeader['state'] | 'paused' | 'cut off';

/** `cut off`: its process is gone without a word. */
export function stateOf(header: RunHeader): RunState {
  if (header.state !== 'running') return header.state;
  if (!isHeld(header)) return 'cut off';
  return header.paused === undefined ? 'running' : 'paused';
}

function status(view: RunView, atWork: readonly AgentAtWork[], flags: ViewFlags): void {
  const { run, header, tasks, questions, drafts, budgets, green } = view;
  const state = stateOf(header);
  const counts: Record<string, number> = {};
  const ways: Record<string, number> = {};
  const givenUp: TaskId[] = [];
  for (const { task, record } of tasks) {
    if (task.id === rootTask) continue;
    const way = record.state === 'ended' ? (record.status ?? 'ended') : record.state;
    counts[record.state] = (counts[record.state] ?? 0) + 1;
    ways[way] = (ways[way] ?? 0) + 1;
    if (record.status === 'failed') givenUp.push(task.id);
  }
  const cost = sumOf([...view.agents, ...atWork]);
  const { reason, detail, goal, paused } = header;
  const isAtWork = state === 'running' || state === 'paused';
  if (flags.json) {
    const budget = budgets.get(rootTask);
    const pid = isAtWork ? header.holder.pid : undefined;
    const kept = Object.fromEntries(drafts);
    const processes = header.generation;
    console.log(
      JSON.stringify({
        run,
        state,
        reason,
        status: view.status,
        detail,
        goal,
        paused: state === 'paused' ? paused : undefined,
        pid,
        processes,
        tasks: counts,
        givenUp,
        cost,
        atWork,
        budget,
        green,
        questions,
        drafts: kept,
      }),
    );
    return;
  }
  const isWhole = view.status === undefined || view.status === 'done';
  const about = isWhole ? reason : `${reason}, goal ${view.status}`;
  const next = {
    paused: `'mound swarm unpause ${run}' lets it go on`,
    running: undefined,
    ended: reason === 'finished' ? undefined : `'mound swarm resume ${run}' goes on with it`,
    stopped: `'mound swarm resume ${run}' goes on with it`,
    'cut off': `'mound swarm resume ${run}' goes on with it`,
  }[state];
  const lines = [
    `run ${run}: ${state}${about === undefined ? '' : ` (${about})`}; ${oneLine(goal)}`,
    ...(detail === undefined ? [] : [`why: ${oneLine(detail)}`]),
    `tasks: ${
      Object.entries(ways)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ') || 'none'
    }`,
    ...(givenUp.length === 0 ? [] : [`given up: ${namesOf(givenUp)}`]),
    `cost: ${cost === undefined ? 'nothing' : formatCost(cost)}`,
    ...(green === undefined ? [] : greenLines(green)),
    ...atWork.map(
      ({ agent, task, turns, cost: own }) =>
        `${isAtWork ? 'at work' : 'cut off'}: ${agent} on ${task}, ${turns} turns, ${formatCost(own)}`,
    ),
    ...[...drafts].map(([task, paths]) => `not landed yet, of ${task}: ${paths.join(', ')}`),
    ...questions.map(
      ({ id, question }) => `question ${id}: ${oneLine(question)}; 'mound swarm answer ${id} TEXT' answers it`,
    ),
    ...(next === undefined ? [] : [next]),
  ];
  console.log(lines.join('\n'));
}

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ').slice(0, 200);

/** Undefined where nobody has asked anything. */
const sumOf = (agents: readonly { readonly cost: CostSum }[]): CostSum | undefined =>
  agents.reduce<CostSum | undefined>((sum, agent) => addCosts(sum, agent.cost), undefined);

function costs(view: RunView, atWork: readonly AgentAtWork[], { by, json }: ViewFlags & { readonly by: By }): void {
  const agents = [...view.agents, ...atWork];
  const sums = new Map<string, CostSum>();
  const add = (name: string, cost: CostSum): void => void sums.set(name, addCosts(sums.get(name), cost));
  for (const { role, task, agent, cost, byModel } of agents) {
    if (by === 'model') for (const [model, sum] of Object.entries(byModel)) add(model, sum);
    else add({ role, task, agent }[by], cost);
  }
  const total = sumOf(agents);
  if (json) {
    console.log(JSON.stringify({ run: view.run, by, sums: Object.fromEntries(sums), total: total ?? null }));
    return;
  }
  if (total === undefined) console.log('no agent has begun yet');
  else for (const [name, sum] of [...sums, ['total', total] as const]) console.log(`${name}: ${describe(sum)}`);
}

function describe(sum: CostSum): string {
  return `${formatCost(sum)}; ${sum.requests} ${sum.requests === 1 ? 'request' : 'requests'}, ${formatTokens(sum)}`;
}

function prompts(name: string | undefined, { json }: { readonly json?: true }): void {
  const names = Object.keys(shippedRoles());
  if (name !== undefined && !names.includes(name))
    throw new UsageError(`there is no role '${name}'; there are ${names.join(', ')}`);
  const found = (name === undefined ? names : [name]).map((role) => {
    const { version, text } = shippedPrompt(role);
    return { role, version, sha256: sha256(text), ...(name !== undefined && { text }) };
  });
  if (json) console.log(JSON.stringify({ prompts: found }));
  else
    for (const { role, version, sha256: hash, text } of found)
      console.log(`${role}  version ${version}  ${hash}${text === undefined ? '' : `\n\n${text}`}`);
}
