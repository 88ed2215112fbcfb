import type { Outcome } from '@mound/vcs';
import type { Task } from '../core/task.ts';
import { replaceExact } from '../tools/edit-text.ts';
import {
  refused,
  type ClaimView,
  type Edited,
  type EditRequest,
  type FileView,
  type NoteRequest,
  type Refusal,
  type RunAnswer,
  type RunRequest,
  type WriteRequest,
} from '../tools/operations.ts';
import { applyChunks, parsePatch, type PatchPart } from '../tools/patch-text.ts';
import { explanationsOf } from './breakages.ts';
import { claimTopic, topicBoard } from './claim-board.ts';
import type { Draft, DraftEdit } from './draft.ts';
import { noteInGuide } from './field-guide.ts';
import { RepoReads, textOf } from './repo-reads.ts';
import type { RunContext } from './run-context.ts';
import type { Claim } from './task-book.ts';

const takenOver = 'nothing was written: another worker has taken this task over. Stop here.';

/** A worker's edits before they land, and the commands that it runs on them. */
export class RepoEdits extends RepoReads {
  protected readonly context: RunContext;
  protected readonly task: Task;
  protected readonly claimed: Claim;
  protected readonly draft: Draft;
  readonly #signal: AbortSignal;

  constructor(context: RunContext, task: Task, claim: Claim, draft: Draft, signal: AbortSignal) {
    super(context.repo, baseOf(context, task, claim), context.guide, draft);
    this.context = context;
    this.task = task;
    this.claimed = claim;
    this.draft = draft;
    this.#signal = signal;
  }

  /** Names what a call asks of the store: the same call never has a second effect. */
  operationId(key: string): string {
    return `${this.context.run}/${this.task.id}/${this.claimed.generation}/${key}`;
  }

  async edit({ path, version, edits }: EditRequest, key: string): Promise<Edited | Refusal> {
    const file = this.#asRead(path, version);
    if (file === undefined) return refused(`nothing was changed: ${path} does not exist. Write it, or call list.`);
    if (file.text === undefined) return refused(`nothing was changed: ${path} is no text. Write it whole.`);
    if (file.version !== version) {
      return refused(
        `nothing was changed: you edit version ${version} of ${path}, yours is ${file.version}. Read it again.`,
      );
    }
    const answer = replaceExact(file.text, edits);
    if (answer.kind === 'refused') return refused(`nothing was changed in ${path}: ${answer.says}`);
    if (answer.text === file.text) return refused(`nothing was changed in ${path}: search and replace are the same.`);
    return this.#write([{ path, base: file.version, bytes: answer.text }], key);
  }

  /** As it stands, or as the agent had read it, where it moved on since: the edit is merged when it lands. */
  #asRead(path: string, version: number): FileView | undefined {
    const file = this.read(path);
    if (file?.version === version || file?.edited === true) return file;
    if (version === 0 || this.readSet.readVersion(path) !== version) return file;
    const then = this.context.repo.snapshot(version);
    const bytes = then.read(path);
    const head = then.head(path);
    if (bytes === undefined || head === undefined) return file;
    return { path, version, mode: head.mode, size: head.size, text: textOf(bytes) };
  }

  async write(request: WriteRequest, key: string): Promise<Edited | Refusal> {
    const { path, expect, mode } = request;
    const file = this.read(path);
    const isThere = file !== undefined;
    // As it was read, though it moved on since: that is merged when it lands.
    const isAsRead = expect !== undefined && file?.edited !== true && this.readSet.readVersion(path) === expect;
    if (
      expect === 'absent'
        ? isThere
        : expect === undefined
          ? isThere && file.edited !== true
          : file?.version !== expect && !isAsRead
    ) {
      const says = isThere ? `it is at version ${file.version}` : 'it does not exist';
      return refused(
        `nothing was written: ${path} is not as you expect, ${says}. Read it and give its version as expect.`,
      );
    }
    const content = await this.context.bytes(request);
    if (content.kind === 'refused') return content;
    const kept = file === undefined ? undefined : this.#bytesOf(path);
    const bytes = content.bytes === undefined ? kept : content.bytes;
    if (bytes === undefined) return refused(`nothing was written: give content for ${path}; null deletes it.`);
    const base = isAsRead ? expect : (file?.version ?? 0);
    return this.#write([{ path, base, bytes, ...(mode && { mode }) }], key);
  }

  #bytesOf(path: string): Buffer | undefined {
    const edited = this.draft.files.get(path);
    return edited === undefined ? this.context.repo.snapshot(this.base).read(path) : this.draft.read(edited);
  }

  async #write(edits: readonly DraftEdit[], key: string): Promise<Edited | Refusal> {
    const outcome = await this.draft.write(edits, this.operationId(key));
    if (outcome.kind === 'full') return refused('nothing was written: you have edited 1000 files. Commit first.');
    if (outcome.kind === 'rejected') {
      return refused(outcome.code === 'record-stale' ? takenOver : `nothing was written: ${outcome.message}.`);
    }
    return { kind: 'edited', paths: edits.map(({ path, base }) => ({ path, version: base })) };
  }

  /** All files of the patch, or none: what would not apply is found before the first is written. */
  async patch(text: string, key: string): Promise<Edited | Refusal> {
    const parsed = parsePatch(text);
    if (parsed.kind === 'refused') return refused(`nothing was changed: ${parsed.says}.`);
    const writes: DraftEdit[] = [];
    for (const part of parsed.parts) {
      const planned = this.#plan(part);
      if ('kind' in planned) return planned;
      writes.push(...planned);
    }
    return this.#write(writes, key);
  }

  #plan(part: PatchPart): Refusal | DraftEdit[] {
    const file = this.read(part.path);
    if (part.kind === 'add') {
      if (file !== undefined)
        return refused(`nothing was changed: ${part.path} exists; update it instead of adding it.`);
      return [{ path: part.path, base: 0, bytes: part.text }];
    }
    if (file === undefined) return refused(`nothing was changed: ${part.path} does not exist. Call list.`);
    if (part.kind === 'delete') return [{ path: part.path, base: file.version, bytes: null }];
    if (file.text === undefined) return refused(`nothing was changed: ${part.path} is no text.`);
    const answer = applyChunks(file.text, part.chunks);
    if (answer.kind === 'refused') return refused(`nothing was changed: ${part.path}, ${answer.says}`);
    const { moveTo } = part;
    if (moveTo === undefined) return [{ path: part.path, base: file.version, bytes: answer.text }];
    const there = this.read(moveTo);
    if (there !== undefined) return refused(`nothing was changed: ${moveTo} exists already.`);
    return [
      { path: part.path, base: file.version, bytes: null },
      { path: moveTo, base: 0, bytes: answer.text },
    ];
  }

  /** On a directory of the worker's own: its snapshot and its edits, never another's between two writes. */
  async run(request: RunRequest, key: string): Promise<RunAnswer | Refusal> {
    const { command, timeoutMs, keep } = request;
    const { commands } = this.context.parts;
    const ran = await commands.run(this.claimed.agent, {
      command,
      timeoutMs,
      keep,
      seq: this.base,
      draft: this.draft,
      signal: this.#signal,
    });
    if (ran.kind === 'refused') return ran;
    const edits = ran.changes
      .filter(({ isKept }) => isKept)
      .map(({ path, bytes, mode }): DraftEdit => ({ path, base: this.read(path)?.version ?? 0, bytes, mode }));
    if (edits.length > 0) {
      const answer = await this.#write(edits, key);
      if (answer.kind === 'refused') return answer;
    }
    const kept = edits.map(({ path }) => path);
    const dropped = ran.changes.filter(({ isKept }) => !isKept).map(({ path }) => path);
    const { code, says: how, stdout: output } = ran.end;
    const hasFailed = code !== undefined && code !== 0;
    const breakages = hasFailed ? explanationsOf(this.context, output, this.base, (path) => this.read(path)?.text) : [];
    return { kind: 'ran', code, how, output, ms: ran.ms, seq: this.base, kept, dropped, breakages };
  }

  note(request: NoteRequest, key: string): Promise<Outcome | Refusal> {
    const author = this.context.author(this.context.role(this.task.role), this.claimed.agent);
    return noteInGuide(this.context, request, { author, base: this.base, operationId: this.operationId(key) });
  }

  claim(topic: string): Promise<Refusal | undefined> {
    return claimTopic(this.context, this.claimed.agent, topic);
  }

  board(): readonly ClaimView[] {
    return topicBoard(this.context);
  }
}

/** Where the task starts, or where its earlier agents had come to. */
function baseOf(context: RunContext, task: Task, { operations }: Claim): number {
  const last = operations.at(-1);
  const outcome = last === undefined ? undefined : context.repo.outcome(last);
  return outcome === undefined || outcome.kind === 'rejected' ? task.base : Math.max(task.base, outcome.seq);
}
