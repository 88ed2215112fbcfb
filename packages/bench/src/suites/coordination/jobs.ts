import {
  corePath,
  extended,
  following,
  parametersOf,
  settingsPath,
  settingsText,
  withEdit,
  type IntendedTask,
  type IntendedWork,
} from '../../workloads/intended-work.ts';

/** What one worker is given, in any arm. */
export type Job =
  | { readonly kind: 'task'; readonly task: string }
  | { readonly kind: 'style'; readonly subtree: number; readonly style: string }
  /** Once all else is done: whatever does not build is made to. */
  | { readonly kind: 'repair' };

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

function mustTask(work: IntendedWork, id: string): IntendedTask {
  const task = work.tasks.find((one) => one.id === id);
  if (task === undefined) throw new Error(`there is no task ${id}`);
  return task;
}

/** What whoever does a job has to read. */
export function pathsOf(work: IntendedWork, job: Job): string[] {
  if (job.kind === 'style') return [settingsPath, areaPathOf(job.subtree)];
  const areas = work.subtrees.flatMap(({ style }, at) => (style === undefined ? [] : [areaPathOf(at)]));
  if (job.kind === 'repair') return [corePath, ...work.paths, settingsPath, ...areas];
  const task = mustTask(work, job.task);
  return task.extends ? [corePath, ...work.paths] : [corePath, ...task.edits.map(({ path }) => path)];
}

/** The files that a job changes, made from what its author has seen of them. */
export function wantedOf(work: IntendedWork, job: Job, seen: ReadonlyMap<string, string>): Map<string, string> {
  const made = new Map<string, string>();
  const core = seen.get(corePath) ?? '';
  switch (job.kind) {
    case 'style':
      if (seen.get(settingsPath) !== settingsText(job.style)) made.set(settingsPath, settingsText(job.style));
      if (!seen.has(areaPathOf(job.subtree))) made.set(areaPathOf(job.subtree), areaText(`'${job.style}'`));
      break;
    case 'repair':
      for (const [path, text] of seen) {
        if (path !== corePath && path !== settingsPath) made.set(path, following(text, parametersOf(core)));
        if (path.startsWith(areaPrefix) && !isStyled(text, seen.get(settingsPath) ?? ''))
          made.set(path, areaText('typeof style'));
      }
      break;
    case 'task': {
      const task = mustTask(work, job.task);
      const parameters = parametersOf(core) + (task.extends ? 1 : 0);
      if (task.extends) {
        made.set(corePath, extended(core));
        for (const [path, text] of seen) if (path !== corePath) made.set(path, following(text, parameters));
      }
      for (const edit of task.edits) {
        const text = made.get(edit.path) ?? seen.get(edit.path) ?? '';
        made.set(edit.path, withEdit(edit, text, parameters));
      }
    }
  }
  for (const [path, text] of made) if (seen.get(path) === text) made.delete(path);
  return made;
}

/** How many tasks of a subtree one of its planners hands out at once; a style job goes with each such part. */
export const partSize = 4;

/** All jobs in the order in which one agent alone would do them. */
export function allJobs(work: IntendedWork): Job[] {
  const jobs: Job[] = [];
  const { subtrees, tasksPerSubtree } = work.parameters;
  for (let part = 0; part * partSize < tasksPerSubtree; part++) {
    for (let subtree = 0; subtree < subtrees; subtree++) {
      const own = work.tasks.filter((task) => task.subtree === subtree);
      for (const { id } of own.slice(part * partSize, (part + 1) * partSize)) jobs.push({ kind: 'task', task: id });
      const { style } = work.subtrees[subtree] ?? {};
      if (style !== undefined) jobs.push({ kind: 'style', subtree, style });
    }
  }
  return jobs;
}
