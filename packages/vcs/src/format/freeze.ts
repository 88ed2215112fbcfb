import { pack, unpackRow } from './codec.ts';

/** A path on which intents are parked. */
export interface Freeze {
  /** Of its entry. */
  readonly seq: number;
  /** Whose intents land all the same: an agent's id, else an author's name; undefined: nobody's. */
  readonly owner: string | undefined;
  /** Milliseconds since 1970 at which it ends by itself; 0: it does not. */
  readonly until: number;
}

export const encodeFreeze = ({ seq, owner, until }: Freeze): Buffer => pack([seq, owner ?? null, until]);

export function decodeFreeze(bytes: Uint8Array): Freeze {
  const [seq, owner, until] = unpackRow(bytes) as readonly [number, string | null, number];
  return { seq, owner: owner ?? undefined, until };
}
