import type { Change, Repo } from '@mound/vcs';
import { gitBlobId } from '@mound/vcs/git';
import type { AcknowledgementFiles } from './acknowledgements.ts';
import type { GitHistory, RecordedChange, RecordedCommit } from './source.ts';

/** A window of the history: its commits are tasks that all start from one snapshot. */
export class Window {
  readonly number: number;
  readonly commits: readonly RecordedCommit[];
  /** How each path that the window touches stands in the recorded tree at its end. */
  readonly record: ReadonlyMap<string, RecordedChange>;

  constructor(number: number, commits: readonly RecordedCommit[]) {
    this.number = number;
    this.commits = commits;
    this.record = new Map(commits.flatMap(({ changes }) => changes.map((change) => [change.path, change] as const)));
  }

  taskId(at: number): string {
    return `w${this.number}-c${at}`;
  }
}

/**
 * The neutral merger that closes a window: where clean merges came to another
 * text than people recorded, it lands one intent that says so. Gives the number
 * of paths it corrected.
 */
export async function correctToRecord(
  repo: Repo,
  history: GitHistory,
  window: Window,
  acknowledgements: AcknowledgementFiles,
): Promise<number> {
  const snapshot = repo.snapshot();
  const wrong: Change[] = [];
  for (const change of window.record.values()) {
    const { path, mode, id } = change;
    const head = snapshot.head(path);
    const content = snapshot.read(path);
    if (id === undefined) {
      if (head) wrong.push({ kind: 'delete', path, expect: { kind: 'version', seq: head.version } });
      continue;
    }
    const isRecorded = content !== undefined && head?.mode === mode && gitIdOf(mode, content) === id;
    if (isRecorded) continue;
    const recorded = await history.content(change);
    if (recorded === undefined) continue;
    const expect = head ? ({ kind: 'version', seq: head.version } as const) : ({ kind: 'absent' } as const);
    wrong.push({ kind: 'put', path, content: recorded, mode, expect });
  }
  if (wrong.length === 0) return 0;
  const operationId = `correction/w${window.number}`;
  const outcome = await repo.land({
    author: { name: 'merger-of-record', kind: 'agent', agent: 'merger-of-record', role: 'merger' },
    message: `Correct window ${window.number} to the record`,
    rationale: `Clean merges of ${wrong.length} paths came to another text than the recorded tree.`,
    operationId,
    changes: wrong,
  });
  if (outcome.kind !== 'landed' && outcome.kind !== 'merged') {
    throw new Error(`window ${window.number} could not be corrected: ${JSON.stringify(outcome)}`);
  }
  const paths = wrong.map(({ path }) => {
    const blob = repo.snapshot(outcome.seq).head(path)?.blob;
    return blob === undefined ? { path } : { path, blob };
  });
  acknowledgements.write('merger-of-record', operationId, outcome, paths);
  return wrong.length;
}

const gitIdOf = (mode: RecordedChange['mode'], content: Buffer): string =>
  mode === 'gitlink' ? content.toString('latin1') : gitBlobId(content);
