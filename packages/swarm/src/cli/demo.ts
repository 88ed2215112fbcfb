import { absent, type Author, type Repo } from '@mound/vcs';
import type { JsonValue } from '../core/json.ts';
import { ScriptedModel, type Script } from '../model/scripted-model.ts';
import type { SwarmOptions } from '../runtime/run-options.ts';
import { UsageError } from './usage-error.ts';
import { runSwarm, type SwarmResult } from '../runtime/run-swarm.ts';

/** A small project, made up for the demo. */
const project = {
  'src/config.js': 'export const config = {\n  name: "shop",\n  retries: 1,\n  timeoutMs: 1000,\n};\n',
  'src/index.js': [
    '// modules',
    '// --- catalogue',
    '// --- basket',
    '// --- payment',
    '// --- search',
    '// --- mail',
    '',
  ].join('\n'),
};

const areas = ['catalogue', 'basket', 'payment', 'search', 'mail', 'users'];

const moduleOf = (area: string): string => `export function ${area}() {\n  return "${area}";\n}\n`;

const config = (retries: number): string => project['src/config.js'].replace('retries: 1', `retries: ${retries}`);

/** Six modules, five of which enter themselves in one index (merged), and two that set one line otherwise (a conflict). */
const tasks: JsonValue = [
  ...areas.map((area) => {
    const index = project['src/index.js'].replace(
      `// --- ${area}\n`,
      `// --- ${area}\nexport { ${area} } from "./${area}.js";\n`,
    );
    const changes = [{ path: `src/${area}.js`, content: moduleOf(area) }];
    if (index !== project['src/index.js']) changes.push({ path: 'src/index.js', content: index });
    return { id: area, title: `Write ${area}`, scope: ['src'], input: changes };
  }),
  ...[3, 5].map((retries) => ({
    id: `retries-${retries}`,
    title: `Retry ${retries} times`,
    scope: ['src/config.js'],
    input: [{ path: 'src/config.js', content: config(retries) }],
  })),
];

const scripts: Readonly<Record<string, Script>> = {
  planner: ({ turn, brief }) =>
    turn === 0
      ? {
          calls: [
            {
              name: 'delegate',
              arguments: { tasks: (tasks as JsonValue[]).map((task) => ({ ...(task as object), base: brief.base })) },
            },
            { name: 'wait', arguments: {} },
          ],
        }
      : { calls: [{ name: 'finish', arguments: { status: 'done' } }] },
  worker: ({ brief }) => {
    const changes = brief.role === 'worker' ? (brief.input ?? []) : [];
    const message = brief.role === 'worker' ? brief.task.title : '';
    return {
      calls: [
        { name: 'commit', arguments: { changes, message } },
        { name: 'finish', arguments: { status: 'done' } },
      ],
    };
  },
  merger: ({ brief }) => {
    const conflict = brief.role === 'merger' ? brief.conflict : '';
    const results = [{ path: 'src/config.js', content: config(5) }];
    const reason = 'the larger number of retries holds';
    const otherwise = { fate: 'discarded', reason, because: { kind: 'decision', id: 'retries-5' } };
    return {
      calls: [
        { name: 'resolve', arguments: { conflict, results, otherwise } },
        { name: 'finish', arguments: { status: 'done' } },
      ],
    };
  },
};

const author: Author = { name: 'mound-swarm demo', kind: 'system' };

/** Lands the project where it is not there yet, and runs a scripted swarm on it. */
export async function runDemo(repo: Repo, options: Partial<SwarmOptions> = {}): Promise<SwarmResult> {
  const changes = Object.entries(project).map(([path, content]) => ({
    kind: 'put' as const,
    path,
    content,
    expect: absent,
  }));
  const outcome = await repo.land({ author, message: 'Start the demo project', changes, onStale: 'reject' });
  if (outcome.kind === 'rejected')
    throw new UsageError('the demo wants an empty repository: its files are there already');
  const model = new ScriptedModel(scripts);
  return runSwarm({
    repo,
    goal: 'Build the shop',
    agentsMax: 4,
    models: { planner: model, worker: model, merger: model },
    ...options,
  });
}
