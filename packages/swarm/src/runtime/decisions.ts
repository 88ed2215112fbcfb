import { absent, decisionPath, renderDecision, ruleRecord, version, type Change, type RecordWrite } from '@mound/vcs';
import type { Decision } from '../core/brief.ts';
import { taskNameOf, taskOfName, type TaskId } from '../core/ids.ts';
import type { RunContext } from './run-context.ts';

/** A decision that holds now. */
export interface ActiveDecision extends Decision {
  readonly title: string;
  /** The task whose planner made it; else who its document says, a person or another run. */
  readonly owner: string;
  /** Of its document. */
  readonly path: string;
}

/** The design documents of the repository that are active, whoever wrote them. */
export function decisionsOf(context: RunContext): ActiveDecision[] {
  return context.repo
    .decisions()
    .decisions.filter(({ status }) => status === 'active')
    .map(({ id, title, topics, text, owner, hash, path }) => ({
      id,
      title,
      topics,
      text: text.trim(),
      owner: taskOfName(context.run, owner) ?? owner,
      path,
      cite: `@decision ${id}@${hash}`,
    }));
}

/** As agents are told of it. */
export const briefOf = ({ id, topics, text, cite }: Decision): Decision => ({ id, topics, text, cite });

export interface NewDecision {
  readonly id: string;
  readonly title?: string | undefined;
  readonly topics: readonly string[];
  readonly text: string;
  readonly supersedes?: readonly string[] | undefined;
}

/** One line of what it says, where it has no title of its own. */
const titleOf = ({ title, text }: NewDecision): string =>
  (title ?? text.trim().split('\n')[0] ?? '').slice(0, 120).trim() || 'untitled';

/** The change that makes a decision, or says an own one anew, under a task's name. */
export function decisionChange(context: RunContext, owner: TaskId, decision: NewDecision): Change {
  const { id, topics, text, supersedes = [] } = decision;
  const standing = context.repo.decisions().decisions.find((one) => one.id === id);
  const path = standing?.path ?? decisionPath(id);
  const content = renderDecision({
    id,
    title: titleOf(decision),
    topics,
    owner: taskNameOf(context.run, owner),
    status: 'active',
    supersedes: [...new Set([...(standing?.supersedes ?? []), ...supersedes])].filter((one) => one !== id),
    text: `${text.trim()}\n`,
  });
  const head = context.repo.snapshot().head(path);
  return { kind: 'put', path, content, expect: head === undefined ? absent : version(head.version) };
}

/** Name of the landing rule that checks what is cited. */
const ruleName = 'references';

/**
 * What lands with changes of design documents: generated symbols as they are from then on, so that code which relies on
 * what was superseded stops compiling, and the landing rule on references, where the repository has none.
 */
export function withReferences(
  context: RunContext,
  changes: readonly Change[],
): { readonly changes: readonly Change[]; readonly records: readonly RecordWrite[] } {
  if (!context.isOn('references')) return { changes, records: [] };
  const written = new Set(changes.map(({ path }) => path));
  const symbols = context.repo.symbolChanges(changes).filter(({ path }) => !written.has(path));
  const isRuled = context.repo.rules().some(({ name, rule }) => rule.kind === 'references' || name === ruleName);
  const { key } = ruleRecord(ruleName, null, absent);
  const head = context.repo.snapshot().record(key);
  const expect = head === undefined ? absent : version(head.version);
  const records = isRuled ? [] : [ruleRecord(ruleName, { kind: 'references', paths: ['*'] }, expect)];
  return { changes: [...changes, ...symbols], records };
}
