import type { Author } from '../core/intent.ts';
import type { CommitView } from '../views/types.ts';

/** What a git commit is made from where the landing did not come from git. */
export type CommitSource = Pick<
  CommitView,
  'author' | 'coAuthors' | 'time' | 'message' | 'rationale' | 'task' | 'operationId'
>;

/**
 * The raw commit object of a landing. A pure function of its record, so that
 * every export gives the same id.
 */
export function buildCommit(tree: string, parents: readonly string[], source: CommitSource): Buffer {
  const identity = `${identityOf(source.author)} ${Math.max(0, Math.floor(source.time / 1000))} +0000`;
  const lines = [
    `tree ${tree}`,
    ...new Set(parents.map((id) => `parent ${id}`)),
    `author ${identity}`,
    `committer ${identity}`,
    '',
    messageOf(source),
  ];
  return Buffer.from(lines.join('\n'), 'utf8');
}

/** `Name <email>` that `git fsck --strict` takes: no angle brackets, control characters or empty parts. */
export function identityOf(author: Author): string {
  const fallback = cleanName(author.agent ?? '') || 'unknown';
  const name = cleanName(author.name) || fallback;
  const email = cleanEmail(author.email ?? '') || `${safeLocalPart(author.agent ?? author.name)}@mound.invalid`;
  return `${name} <${email}>`;
}

// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u001f\u007f]+/g;

/** git itself strips this crud at the ends of a name. */
const cleanName = (text: string): string =>
  text
    .replace(/[<>]/g, '')
    .replace(controls, ' ')
    .replace(/^[\s.,:;"\\']+|[\s.,:;"\\']+$/g, '');

const cleanEmail = (text: string): string => text.replace(/[<>\s]/g, '').replace(controls, '');

function safeLocalPart(text: string): string {
  const plain = text.normalize('NFKD').toLowerCase();
  return plain.replace(/[^a-z0-9._-]+/g, '-').replace(/^[-.]+|[-.]+$/g, '') || 'unknown';
}

const trailerLine = /^[A-Za-z][A-Za-z0-9-]*: ./;

function messageOf(source: CommitSource): string {
  const paragraphs = [tidy(source.message)];
  const rationale = tidy(source.rationale ?? '');
  if (rationale !== '') paragraphs.push(`Rationale: ${rationale}`);
  const trailers = trailersOf(source);
  const last = paragraphs.at(-1) ?? '';
  const endsInTrailers =
    rationale === '' &&
    last.includes('\n\n') &&
    lastParagraphOf(last)
      .split('\n')
      .every((line) => trailerLine.test(line));
  let text = paragraphs.filter((paragraph) => paragraph !== '').join('\n\n');
  if (trailers.length > 0) text += `${text === '' ? '' : endsInTrailers ? '\n' : '\n\n'}${trailers.join('\n')}`;
  return text === '' ? '' : `${text}\n`;
}

/** A NUL would cut the message for every reader of git. */
const tidy = (text: string): string => text.replaceAll('\0', '\ufffd').replace(/^\n+|\s+$/g, '');

const lastParagraphOf = (text: string): string => text.slice(text.lastIndexOf('\n\n') + 2);

function trailersOf(source: CommitSource): string[] {
  const { author } = source;
  const pairs: readonly (readonly [string, string | undefined])[] = [
    ['Task', source.task],
    ['Agent', author.agent],
    ['Role', author.role],
    ['Model', author.model],
    ['Operation', source.operationId],
    ...source.coAuthors.map((coAuthor) => ['Co-authored-by', identityOf(coAuthor)] as const),
  ];
  const lines: string[] = [];
  for (const [name, value] of pairs) {
    const line = (value ?? '').replace(controls, ' ').trim();
    if (line !== '') lines.push(`${name}: ${line}`);
  }
  return lines;
}
