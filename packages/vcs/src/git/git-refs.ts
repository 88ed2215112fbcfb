import { linesOf, runGit, spawnGit } from './git-command.ts';

export interface GitRef {
  /** Full name, e.g. `refs/heads/main`. */
  readonly name: string;
  /** What it points at: a commit, or an annotated tag. */
  readonly id: string;
  readonly type: string;
  /** An annotated tag's object after all tags; else the same as `id` and `type`. */
  readonly peeledId: string;
  readonly peeledType: string;
  /** True where the name's bytes are UTF-8, so that it has a text to be known by. */
  readonly isText: boolean;
}

const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOfLatin1(latin1: string): string | undefined {
  try {
    return strictDecoder.decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return undefined;
  }
}

/** Heads and tags by default, in byte order of their names. */
export async function listRefs(
  gitDir: string,
  prefixes: readonly string[] = ['refs/heads', 'refs/tags'],
): Promise<GitRef[]> {
  // Ids come first and the name last, since a name may hold anything but a newline.
  const format = '%(objectname) %(objecttype) %(refname)';
  const refs: GitRef[] = [];
  for await (const line of linesOf(spawnGit(['for-each-ref', `--format=${format}`, ...prefixes], { gitDir }))) {
    const [id = '', type = '', ...rest] = line.split(' ');
    const latin1 = rest.join(' ');
    const text = textOfLatin1(latin1);
    refs.push({ name: text ?? latin1, id, type, peeledId: id, peeledType: type, isText: text !== undefined });
  }
  return peel(gitDir, refs);
}

/** The same for what revisions name in a repository; those that name nothing are left out. */
export async function describeRefs(
  gitDir: string,
  asked: readonly { readonly name: string; readonly revision: string }[],
): Promise<GitRef[]> {
  const refs: GitRef[] = [];
  for (const { name, revision } of asked) {
    const parsed = await runGit(['rev-parse', '--verify', '-q', '--end-of-options', revision], {
      gitDir,
      okCodes: [0, 1, 128],
    });
    const id = /[0-9a-f]{40}/.exec(parsed.stdout.toString('latin1'))?.[0];
    if (parsed.code !== 0 || id === undefined) continue;
    const { code, stdout } = await runGit(['cat-file', '-t', id], { gitDir, okCodes: [0, 128] });
    const type = stdout.toString('latin1').trim();
    if (code === 0) refs.push({ name, id, type, peeledId: id, peeledType: type, isText: true });
  }
  return peel(gitDir, refs);
}

/** `for-each-ref` itself peels a tag of a tag only once. */
async function peel(gitDir: string, refs: readonly GitRef[]): Promise<GitRef[]> {
  const tags = [...new Set(refs.filter(({ type }) => type === 'tag').map(({ id }) => id))];
  if (tags.length === 0) return [...refs];
  const input = [tags.map((id) => `${id}^{}\n`).join('')];
  const { stdout } = await runGit(['cat-file', '--batch-check=%(objectname) %(objecttype)'], { gitDir, input });
  const answers = stdout.toString('latin1').split('\n');
  const peeled = new Map(tags.map((id, index) => [id, (answers[index] ?? '').split(' ')]));
  return refs.map((ref) => {
    const [peeledId = ref.id, peeledType = ref.type] = peeled.get(ref.id) ?? [];
    return { ...ref, peeledId, peeledType };
  });
}

/** The branch that HEAD names (it may have no commit yet); undefined where HEAD is detached. */
export async function headBranchOf(gitDir: string): Promise<string | undefined> {
  const { code, stdout } = await runGit(['symbolic-ref', '-q', 'HEAD'], { gitDir, okCodes: [0, 1] });
  const name = stdout.toString('utf8').trim();
  return code === 0 && name.startsWith('refs/heads/') ? name.slice('refs/heads/'.length) : undefined;
}

/** The commit at HEAD, also of a detached one. */
export async function headCommitOf(gitDir: string): Promise<string | undefined> {
  const { code, stdout } = await runGit(['rev-parse', '--verify', '-q', 'HEAD^{commit}'], {
    gitDir,
    okCodes: [0, 1, 128],
  });
  return code === 0 ? stdout.toString('utf8').trim() : undefined;
}

/** git's rule for a branch or tag name (`git check-ref-format`). */
export function isRefName(name: string): boolean {
  if (name === '' || name === '@' || name.endsWith('/') || name.endsWith('.') || name.startsWith('-')) return false;
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000- \u007f~^:?*[\\]|\.\.|@\{|\/\//.test(name)) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

export interface RefMove {
  readonly name: string;
  readonly to: string;
  /** Its id now; undefined where it must not exist. */
  readonly from: string | undefined;
}

/** All or none, and only where each ref is still where it was. */
export async function moveRefs(gitDir: string, moves: readonly RefMove[]): Promise<void> {
  if (moves.length === 0) return;
  const lines = moves.map(({ name, to, from }) => `update ${name}\0${to}\0${from ?? '0'.repeat(40)}\0`);
  await runGit(['update-ref', '--no-deref', '--stdin', '-z'], { gitDir, input: [lines.join('')] });
}
