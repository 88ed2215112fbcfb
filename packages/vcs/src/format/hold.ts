import { pack, unpackRow } from './codec.ts';

/** A path that is kept for one intent while its large merge runs. */
export interface Hold {
  /** Of the intent that others wait for. */
  readonly token: string;
  /** Milliseconds since 1970; from then on nobody waits for it. */
  readonly until: number;
}

export const encodeHold = ({ token, until }: Hold): Buffer => pack([token, until]);

export function decodeHold(bytes: Uint8Array): Hold {
  const [token, until] = unpackRow(bytes) as readonly [string, number];
  return { token, until };
}
