/** Swarms of scripted minds that edit real files, and a real compiler that says what broke. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { absent, type Repo } from '@mound/vcs';
import {
  runSwarm,
  ScriptedModel,
  type JsonValue,
  type Script,
  type SwarmEvent,
  type SwarmOptions,
  type SwarmResult,
} from '@mound/swarm';
import { projectDir, run } from '../process.ts';
import { setup, tempDir, tempRepo } from '../temp.ts';

export type Call = { readonly name: string; readonly arguments: JsonValue };

export const call = (name: string, input: JsonValue): Call => ({ name, arguments: input });
export const finish = (status = 'done'): Call => call('finish', { status });
export const write = (path: string, content: string, more: object = {}): Call =>
  call('commit', { changes: [{ path, content }], message: `write ${path}`, ...more });

/** A repository with these files. */
export async function repoWith(files: Readonly<Record<string, string>>): Promise<Repo> {
  const repo = await tempRepo();
  const changes = Object.entries(files).map(([path, content]) => ({
    kind: 'put' as const,
    path,
    content,
    expect: absent,
  }));
  if (changes.length > 0) await repo.land({ author: setup, message: 'start', changes });
  return repo;
}

export interface Ran {
  readonly result: SwarmResult;
  readonly events: readonly SwarmEvent[];
}

/** A run whose roles are scripts; a mechanism without a script has no mind. */
export async function runScripts(
  repo: Repo,
  scripts: Readonly<Record<string, Script>>,
  more: Partial<SwarmOptions> = {},
): Promise<Ran> {
  const events: SwarmEvent[] = [];
  const model = new ScriptedModel(scripts);
  const models = Object.fromEntries(Object.keys(scripts).map((role) => [role, model]));
  const result = await runSwarm({
    repo,
    goal: 'g',
    runId: 'r1',
    models,
    agentsMax: 4,
    onEvent: (event) => events.push(event),
    ...more,
  });
  return { result, events };
}

export const ofKind = <Kind extends SwarmEvent['kind']>(
  events: readonly SwarmEvent[],
  kind: Kind,
): Extract<SwarmEvent, { kind: Kind }>[] =>
  events.filter((event): event is Extract<SwarmEvent, { kind: Kind }> => event.kind === kind);

/** Exit code and words of the TypeScript compiler on the files that stand in the repository. */
export async function compile(repo: Repo): Promise<{ readonly code: number | null; readonly output: string }> {
  const dir = tempDir();
  const snapshot = repo.snapshot();
  const sources = snapshot.list().filter(({ path }) => path.endsWith('.ts'));
  for (const { path } of sources) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), snapshot.read(path) ?? '');
  }
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--lib', 'es2022', '--types', '', '--module', 'esnext'];
  const resolution = ['--moduleResolution', 'bundler', '--allowImportingTsExtensions'];
  const tsc = join(projectDir, 'node_modules/.bin/tsc');
  const ran = await run(tsc, [...flags, ...resolution, ...sources.map(({ path }) => path)], { cwd: dir });
  return { code: ran.code, output: ran.stdout };
}

/** Lets one script wait for another. */
export function gate(): { readonly open: () => void; readonly opened: Promise<void> } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
