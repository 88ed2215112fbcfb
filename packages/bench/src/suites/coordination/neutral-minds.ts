import type {
  DecomposerBrief,
  MergerBrief,
  ReconcilerBrief,
  ReviewerBrief,
  ScriptedTurn,
  ScriptView,
} from '@mound/swarm';

import {
  corePath,
  parametersOf,
  registryPath,
  sectionPathOf,
  settingsPath,
  settingsText,
  withParameters,
  wrongCalls,
} from '../../workloads/intended-text.ts';
import { isOfStyle } from './jobs.ts';
import { call, finishing } from './turns.ts';

interface SideText {
  readonly text?: string;
}

interface ReadConflict {
  readonly paths: readonly { readonly path: string; readonly base: SideText; readonly current: SideText; readonly incoming: SideText }[]; // prettier-ignore
}

/** Brings together what both sides added; it settles one conflict after another of its file. */
export function merger(view: ScriptView): ScriptedTurn {
  const brief = view.brief as MergerBrief;
  const conflicts = [brief, ...(brief.also ?? [])].map(({ conflict }) => conflict);
  const last = view.results.at(-1);
  const settled = view.request.messages.filter(
    (message) => message.role === 'assistant' && message.calls?.some(({ name }) => name === 'resolve'),
  ).length;
  if (last?.name === 'read_conflict' && last.value.ok) {
    const read = last.value as unknown as ReadConflict;
    const results = read.paths.map(({ path, base, current, incoming }) => ({
      path,
      content: together(path, base.text ?? '', current.text ?? '', incoming.text ?? ''),
    }));
    const otherwise = { fate: 'transformed', reason: 'what both sides added stands together' };
    return { calls: [call('resolve', { conflict: conflicts[settled] ?? '', results, otherwise })] };
  }
  if (settled >= conflicts.length) return finishing('done');
  return { calls: [call('read_conflict', { conflict: conflicts[settled] ?? '' })] };
}

/** Current's text, with the lines, the numbers and the parameters that incoming added. */
export function together(path: string, base: string, current: string, incoming: string): string {
  if (isOfStyle(path)) return current;
  const before = new Set(base.split('\n'));
  const lines = current.split('\n');
  let anchor = '';
  for (const line of incoming.split('\n')) {
    if (before.has(line) || lines.includes(line)) {
      anchor = line;
      continue;
    }
    const list = /^export const list\d+ = \[/.exec(line)?.[0];
    const at = list === undefined ? -1 : lines.findIndex((one) => one.startsWith(list));
    const known = lines[at];
    if (list !== undefined && known !== undefined) {
      const numbers = new Set([...(known.match(/\d+(?=[,\]])/g) ?? []), ...(line.match(/\d+(?=[,\]])/g) ?? [])]);
      lines[at] = `${list}${[...numbers].join(', ')}];`;
      continue;
    }
    // One of the two ways to call the core function with what it takes; whoever follows it mends the other.
    const name = /^export const (\w+) = /.exec(line)?.[1];
    if (name === 'core' || (name !== undefined && lines.some((one) => one.startsWith(`export const ${name} = `))))
      continue;
    lines.splice(lines.indexOf(anchor) + 1, 0, line);
    anchor = line;
  }
  const text = lines.join('\n');
  if (path !== corePath) return text;
  return withParameters(text, [...new Set([...parametersOf(current), ...parametersOf(incoming)])]);
}

/** One style for all, since they cannot agree. */
export function reconciler(view: ScriptView): ScriptedTurn {
  if (view.turn > 0) return finishing('done');
  const { paths, clash } = view.brief as ReconcilerBrief;
  const text = 'Messages have the plain style.';
  const decision = { id: 'style', title: 'Style of messages', topics: ['style of messages'], text, supersedes: clash };
  const results = paths.includes(settingsPath) ? [{ path: settingsPath, content: settingsText('plain') }] : [];
  return { calls: [call('settle', { decision, ...(results.length > 0 && { results }) })] };
}

/** Knows one file that falls into parts by itself. */
export function decomposer(view: ScriptView): ScriptedTurn {
  const { path } = view.brief as DecomposerBrief;
  if (path !== registryPath) return finishing('nothing-to-do');
  if (view.turn === 0) return { calls: [call('read', { path })] };
  const [result] = view.results;
  if (result?.name !== 'read' || typeof result.value['text'] !== 'string') return finishing('done');
  const parts = result.value['text'].split(/^(?=\/\/ section \d)/m).filter((part) => part !== '');
  const modules = parts.map((content) => {
    const section = Number(/^\/\/ section (\d+)/.exec(content)?.[1] ?? 0);
    return { path: sectionPathOf(section), content };
  });
  if (modules.length < 2) return finishing('nothing-to-do');
  const remains = modules.map(({ path: to }) => `export * from './${to.slice('src/'.length)}';\n`).join('');
  return { calls: [call('split', { modules, remains })] };
}

/** Counts arguments in the lines that a landing added, and judges nothing else. */
export function reviewer(view: ScriptView): ScriptedTurn {
  if (view.turn === 0) return { calls: [call('read', { path: corePath })] };
  const { value } = view.results[0] ?? {};
  const count = typeof value?.['text'] === 'string' ? parametersOf(value['text']).length : 0;
  const { diff } = (view.brief as ReviewerBrief).change;
  const findings = diff.split(/^diff --git /m).flatMap((part) => {
    const path = /^\+\+\+ b\/(\S+)$/m.exec(part)?.[1];
    const added = part.split('\n').filter((line) => line.startsWith('+export '));
    const [wrong] = wrongCalls(added.join('\n'), count);
    if (count === 0 || path === undefined || path === corePath || wrong === undefined) return [];
    const claim = `core takes ${count} arguments, and gets another number here`;
    return [{ severity: 'blocking', path, claim, evidence: wrong.text.slice(1) }];
  });
  return { calls: [call('verdict', { findings })] };
}
