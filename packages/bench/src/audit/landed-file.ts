import type { Author, CommitView, Repo } from '@mound/vcs';

/** One file of one commit, before and after. */
export interface LandedFile {
  readonly seq: number;
  readonly who: string;
  readonly path: string;
  /** Where it was moved from. */
  readonly movedFrom: string | undefined;
  /** undefined: absent. Empty where it is no text. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

const textBytesMax = 4 * 1024 * 1024;

/** Empty where the bytes are no text, or too many to be source. */
export function textOf(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  return bytes.length > textBytesMax || bytes.subarray(0, 8000).includes(0) ? '' : bytes.toString('utf8');
}

export const whoOf = ({ name, agent, role, model }: Author, task?: string): string =>
  [agent ?? name, role, model, task].filter((part) => part !== undefined && part !== '').join(', ');

/** Every file that commits changed, in their order. */
export function* landedFiles(repo: Repo, commits: readonly CommitView[]): Generator<LandedFile> {
  for (const { seq, branch, author, task, changes } of commits) {
    const before = repo.snapshot(seq - 1, branch);
    const after = repo.snapshot(seq, branch);
    for (const { path, movedFrom, blob } of changes) {
      // Read when they are asked for: all versions of all files at once would not fit.
      yield {
        seq,
        who: whoOf(author, task),
        path,
        movedFrom,
        get before() {
          return textOf(before.read(movedFrom ?? path));
        },
        get after() {
          return blob === undefined ? undefined : textOf(after.read(path));
        },
      };
    }
  }
}
