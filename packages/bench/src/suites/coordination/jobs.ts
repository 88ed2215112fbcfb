import {
  corePath,
  following,
  ownFileText,
  ownPathOf,
  parametersOf,
  registryPath,
  sectionPathOf,
  settingsPath,
  settingsText,
  withParameters,
} from '../../workloads/intended-text.ts';
import { lineOf, withEdit, type IntendedTask, type IntendedWork } from '../../workloads/intended-work.ts';

/** What one worker is given, in any arm. */
export type Job =
  | { readonly kind: 'task'; readonly task: string }
  | { readonly kind: 'style'; readonly subtree: number; readonly style: string }
  /** Parameters of the core function that the workers of these tasks had to leave. */
  | { readonly kind: 'extend'; readonly tasks: readonly string[] }
  /** Whatever does not build is made to: in these files, or in all. */
  | { readonly kind: 'repair'; readonly paths?: readonly string[] };

/** What an author has learned while it worked, or was told. */
export interface Learned {
  /** Directories whose files have no room for more lines. */
  readonly full: ReadonlySet<string>;
  /** It may not change the core function. */
  readonly leavesCore: boolean;
}

export const nothingLearned: Learned = { full: new Set(), leavesCore: false };

const areaPrefix = 'src/area';
export const areaPathOf = (subtree: number): string => `${areaPrefix}${subtree}.ts`;
/** Files of which there can be one version only: nobody can have two styles. */
export const isOfStyle = (path: string): boolean => path === settingsPath || path.startsWith(areaPrefix);

const areaText = (style: string): string =>
  `import { style } from './settings.ts';\nexport const mine: ${style} = style;\n`;

/** Whether an area builds with the settings; where not, it has to live with what others have settled. */
function isStyled(area: string, settings: string): boolean {
  const wanted = /mine: ('\w+')/.exec(area)?.[1];
  return wanted === undefined || settings.includes(wanted);
}

export function mustTask(work: IntendedWork, id: string): IntendedTask {
  const task = work.tasks.find((one) => one.id === id);
  if (task === undefined) throw new Error(`there is no task ${id}`);
  return task;
}

export const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

const parameterOf = (task: IntendedTask): string | undefined =>
  task.edits.find(({ kind }) => kind === 'parameter')?.token;

/** Whoever does it has to see what files there are. */
export const needsListing = (job: Job): boolean =>
  job.kind === 'extend' || (job.kind === 'repair' && job.paths === undefined);

/**
 * What whoever does a job has to read. `seen`: what was read so far, which may lead on; `listed`: the files that there
 * are, where it was looked.
 */
export function pathsOf(
  work: IntendedWork,
  job: Job,
  seen: ReadonlyMap<string, string>,
  listed: readonly string[],
): string[] {
  switch (job.kind) {
    case 'style':
      return [settingsPath, areaPathOf(job.subtree)];
    case 'repair':
      return [...new Set([corePath, ...(job.paths ?? [settingsPath, ...listed])])];
    case 'extend':
      return [...new Set([corePath, ...listed])];
    case 'task': {
      const { edits } = mustTask(work, job.task);
      const led = edits.flatMap((edit) => {
        if (edit.kind !== 'entry') return [];
        const module = sectionPathOf(edit.section);
        return seen.get(registryPath)?.includes(module.slice('src/'.length)) === true ? [module] : [];
      });
      return [...new Set([corePath, ...edits.map(({ path }) => path), ...led])];
    }
  }
}

/** What a task may change, as its planner gives it out: the core function is nobody's. */
export function scopeOf(work: IntendedWork, job: Job): string[] {
  if (job.kind === 'style') return [settingsPath, areaPathOf(job.subtree)];
  if (job.kind !== 'task') return [];
  const { id, edits } = mustTask(work, job.task);
  const own = edits.flatMap(({ kind, path }) => {
    if (kind === 'parameter') return [];
    if (kind === 'entry') return [path, 'src/registry'];
    return [path, ownPathOf(path, id)];
  });
  return [...new Set(own)];
}

/** The files that a job changes, made from what its author has seen of them. */
export function wantedOf(
  work: IntendedWork,
  job: Job,
  seen: ReadonlyMap<string, string>,
  learned: Learned = nothingLearned,
): Map<string, string> {
  const made = new Map<string, string>();
  const core = seen.get(corePath) ?? '';
  switch (job.kind) {
    case 'style':
      if (seen.get(settingsPath) !== settingsText(job.style)) made.set(settingsPath, settingsText(job.style));
      if (!seen.has(areaPathOf(job.subtree))) made.set(areaPathOf(job.subtree), areaText(`'${job.style}'`));
      break;
    case 'repair':
      follow(seen, made, parametersOf(core).length);
      for (const [path, text] of seen) {
        if (path.startsWith(areaPrefix) && !isStyled(text, seen.get(settingsPath) ?? text))
          made.set(path, areaText('typeof style'));
      }
      break;
    case 'extend': {
      const wanted = job.tasks.flatMap((id) => parameterOf(mustTask(work, id)) ?? []);
      const names = [...new Set([...parametersOf(core), ...wanted])];
      follow(seen, made, names.length);
      made.set(corePath, withParameters(core, names));
      break;
    }
    case 'task':
      makeEdits(mustTask(work, job.task), seen, made, learned);
  }
  for (const [path, text] of made) if (seen.get(path) === text) made.delete(path);
  return made;
}

function follow(seen: ReadonlyMap<string, string>, made: Map<string, string>, count: number): void {
  for (const [path, text] of seen)
    if (path !== corePath && path !== settingsPath) made.set(path, following(text, count));
}

function makeEdits(
  task: IntendedTask,
  seen: ReadonlyMap<string, string>,
  made: Map<string, string>,
  { full, leavesCore }: Learned,
): void {
  const core = seen.get(corePath) ?? '';
  const extended = !leavesCore && parameterOf(task) !== undefined;
  const count = parametersOf(core).length + Number(extended);
  for (const one of task.edits) {
    if (one.kind === 'parameter' && leavesCore) continue;
    if ((one.kind === 'line' || one.kind === 'call') && full.has(directoryOf(one.path))) {
      const own = ownPathOf(one.path, task.id);
      const text = made.get(own) ?? seen.get(own) ?? ownFileText;
      made.set(own, `${text}${lineOf(one, count)}\n`);
      continue;
    }
    const places = one.kind === 'entry' ? [one.path, sectionPathOf(one.section)] : [one.path];
    for (const path of places) {
      const text = made.get(path) ?? seen.get(path);
      const changed = text === undefined ? undefined : withEdit(one, text, count);
      if (changed === undefined) continue;
      made.set(path, changed);
      break;
    }
  }
}

/** How many tasks of a subtree one of its planners hands out at once; a style job goes with each such part. */
export const partSize = 4;

/** All jobs in the order in which one agent alone would do them; what was broken is followed at once. */
export function allJobs(work: IntendedWork): Job[] {
  const jobs: Job[] = [];
  const { subtrees, tasksPerSubtree } = work.parameters;
  for (let part = 0; part * partSize < tasksPerSubtree; part++) {
    for (let subtree = 0; subtree < subtrees; subtree++) {
      const own = work.tasks.filter((task) => task.subtree === subtree);
      const now = own.slice(part * partSize, (part + 1) * partSize);
      for (const { id } of now) jobs.push({ kind: 'task', task: id });
      const { style } = work.subtrees[subtree] ?? {};
      if (style !== undefined) jobs.push({ kind: 'style', subtree, style });
      if (now.some((task) => parameterOf(task) !== undefined)) jobs.push({ kind: 'repair' });
    }
  }
  return [...jobs, { kind: 'repair' }];
}
