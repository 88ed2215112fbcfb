import type { Author, AuthorKind } from '../core/intent.ts';
import type { ByteWriter } from './bytes.ts';
import { pack, unpackRow, type Packable } from './codec.ts';

const nullOf = (value: string | undefined): string | null => value ?? null;

const authorKinds: readonly AuthorKind[] = ['human', 'agent', 'system'];

export const authorTuple = (author: Author): Packable => [
  author.name,
  authorKinds.indexOf(author.kind),
  nullOf(author.email),
  nullOf(author.agent),
  nullOf(author.role),
  nullOf(author.model),
];

/** The same as canonical bytes, for digests. */
export function writeAuthor(writer: ByteWriter, { name, kind, email, agent, role, model }: Author): void {
  writer.text(name).byte(authorKinds.indexOf(kind)).optional(email).optional(agent).optional(role).optional(model);
}

export const encodeAuthor = (author: Author): Buffer => pack(authorTuple(author));

export function decodeAuthor(bytes: Uint8Array): Author {
  const [name, kind, email, agent, role, model] = unpackRow(bytes) as readonly [
    string, number, string | null, string | null, string | null, string | null,
  ]; // prettier-ignore
  return {
    name,
    kind: authorKinds[kind] ?? 'system',
    ...(email !== null && { email }),
    ...(agent !== null && { agent }),
    ...(role !== null && { role }),
    ...(model !== null && { model }),
  };
}
