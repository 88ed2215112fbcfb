import type { Message } from '../model/model.ts';

/** What a transcript says that an agent has in its context. */
export type Recollection =
  /** It was shown a file's content. */
  | { readonly kind: 'read'; readonly path: string; readonly version: number }
  /** Its own landing. */
  | { readonly kind: 'landed'; readonly seq: number };

interface Answer {
  readonly ok?: boolean;
  readonly path?: unknown;
  readonly version?: unknown;
  readonly edited?: unknown;
  readonly outcome?: { readonly kind?: unknown; readonly seq?: unknown };
}

const answerOf = (content: string): Answer => {
  try {
    return (JSON.parse(content) ?? {}) as Answer;
  } catch {
    // Cut where it was too long.
    return {};
  }
};

/** In the order in which it came to it. Of hits of a search the version is not known: it is told of changes in them anew. */
export function recollectionsIn(messages: readonly Message[]): Recollection[] {
  return messages.flatMap((message): Recollection[] => {
    if (message.role !== 'tool') return [];
    const { ok, path, version, edited, outcome } = answerOf(message.content);
    if (ok !== true) return [];
    if (message.name === 'read' && edited !== true && typeof path === 'string' && typeof version === 'number')
      return [{ kind: 'read', path, version }];
    const hasLanded = outcome?.kind === 'landed' && typeof outcome.seq === 'number';
    return message.name === 'commit' && hasLanded ? [{ kind: 'landed', seq: outcome.seq }] : [];
  });
}
