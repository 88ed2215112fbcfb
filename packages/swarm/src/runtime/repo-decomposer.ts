import type { Author, Outcome } from '@mound/vcs';
import { taskNameOf, type AgentId, type TaskId } from '../core/ids.ts';
import {
  refused,
  type DecomposerOperations,
  type HandoffReport,
  type NoteRequest,
  type Refusal,
  type SplitRequest,
} from '../tools/operations.ts';
import { noteInGuide } from './field-guide.ts';
import { RepoReads } from './repo-reads.ts';
import type { RunContext } from './run-context.ts';

interface Parts {
  readonly context: RunContext;
  readonly agent: AgentId;
  readonly author: Author;
  readonly path: string;
  readonly generation: number;
  readonly task: TaskId;
  readonly base: number;
}

/** A decomposer's effects on the real store: the split of its one file. */
export class RepoDecomposer extends RepoReads implements DecomposerOperations {
  readonly #parts: Parts;
  #isSplit = false;

  constructor(parts: Parts) {
    super(parts.context.repo, parts.base, parts.context.guide);
    this.#parts = parts;
  }

  get isSplit(): boolean {
    return this.#isSplit;
  }

  note(request: NoteRequest, key: string): Promise<Outcome | Refusal> {
    const { context, author, base, path, generation } = this.#parts;
    const operationId = `${context.run}/note/${generation}/${Buffer.from(path).toString('hex').slice(0, 400)}/${key}`;
    return noteInGuide(context, request, { author, base, operationId });
  }

  async split(request: SplitRequest, key: string): ReturnType<DecomposerOperations['split']> {
    const { context, author, path, generation, task, base } = this.#parts;
    if (this.#isSplit) return refused('not split again: it is. Call finish.');
    const { modules, remains, message = `Split ${path}`, ranges } = request;
    const strange = modules.find((module) => module.path === path);
    if (strange !== undefined) return refused(`not split: ${path} is no module; what stays there goes into remains.`);
    const { outcome, parked } = await context.repo.split(path, {
      author,
      message,
      task: taskNameOf(context.run, task),
      operationId: `${context.run}/split/${generation}/${Buffer.from(path).toString('hex').slice(0, 400)}/${key}`,
      modules,
      remains,
      expect: base,
      ...(ranges !== undefined && { ranges }),
    });
    if (outcome.kind !== 'landed' && outcome.kind !== 'merged') {
      const why = outcome.kind === 'rejected' ? `${outcome.message}. ${outcome.next}` : outcome.kind;
      return refused(`not split: ${why}`);
    }
    this.#isSplit = true;
    this.advance(outcome.seq);
    const retargeted: Record<string, number> = {};
    for (const { outcome: became } of parked) retargeted[became.kind] = (retargeted[became.kind] ?? 0) + 1;
    return { kind: 'split', seq: outcome.seq, retargeted };
  }

  async finish(report: HandoffReport): Promise<Refusal | undefined> {
    if (report.status !== 'done' || this.#isSplit) return undefined;
    return refused('not accepted: nothing is split. Call split, or finish as nothing-to-do or blocked.');
  }
}
