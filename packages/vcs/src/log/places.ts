import { nowhere, type Link, type Place } from '../format/entry.ts';

/** The chain fields of one version, as `linkAfter` and `placeAsOf` need them. */
export type LinkReader = (place: Place) => Link;

/** Depth of the version to which one of this depth jumps; a function of the depth alone. */
const jumpDepths: number[] = [0];

export function jumpDepthOf(depth: number): number {
  for (let known = jumpDepths.length; known <= depth; known++) {
    const near = jumpDepths[known - 1] ?? 0;
    const far = jumpDepths[near] ?? 0;
    jumpDepths.push(known - 1 - near === near - far ? far : known - 1);
  }
  return jumpDepths[depth] ?? 0;
}

/**
 * The link of a new version after `previous`: one read, and in half of the cases a second.
 * Skew-binary jump pointers: Myers 1983, "An applicative random-access stack".
 */
export function linkAfter(previous: Place, read: LinkReader): Link {
  if (previous.seq === 0) return { previous: nowhere, depth: 0, jump: nowhere };
  const before = read(previous);
  const depth = before.depth + 1;
  if (jumpDepthOf(depth) === before.depth) return { previous, depth, jump: previous };
  // The two jumps behind `previous` are of equal length: one jump over both. The first version jumps nowhere.
  const { jump } = read(before.jump);
  return { previous, depth, jump: jump.seq === 0 ? before.jump : jump };
}

/** The newest version at or before `seq` in the chain that ends at `head`; nowhere if there is none. */
export function placeAsOf(head: Place, seq: number, read: LinkReader): Place {
  let place = head;
  while (place.seq > seq) {
    const link = read(place);
    place = link.jump.seq > seq ? link.jump : link.previous;
  }
  return place;
}
