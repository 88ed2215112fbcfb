import { nowhere, type Link, type Place } from '../format/entry.ts';

/** The chain fields of one version, as `linkAfter` and `placeAsOf` need them. */
export type LinkReader = (place: Place) => Link;

const isNowhere = (place: Place): boolean => place.seq === 0;

/**
 * The link of a new version after `previous`.
 * Skew-binary jump pointers: Myers 1983, "An applicative random-access stack".
 */
export function linkAfter(previous: Place, read: LinkReader): Link {
  if (isNowhere(previous)) return { previous: nowhere, depth: 0, jump: nowhere };
  const before = read(previous);
  const jumpBefore = isNowhere(before.jump) ? previous : before.jump;
  const landing = isNowhere(before.jump) ? before : read(before.jump);
  const jumpTwice = isNowhere(landing.jump) ? jumpBefore : landing.jump;
  const farDepth = isNowhere(landing.jump) ? landing.depth : read(landing.jump).depth;
  const isPair = before.depth - landing.depth === landing.depth - farDepth;
  return { previous, depth: before.depth + 1, jump: isPair ? jumpTwice : previous };
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
