import type { BlobId } from '../core/ids.ts';
import type { Mode } from '../core/mode.ts';
import type { Body, ChangeRow, Link, Place } from '../format/entry.ts';
import { nowhere } from '../format/entry.ts';
import { noBlock, type BlockOwner } from './arena.ts';
import { jumpDepthOf } from './places.ts';

/** What a path holds, by content address. */
export interface Target {
  readonly blob: BlobId;
  readonly mode: Mode;
}

/**
 * What landing and chain walks need of one version of a path. It never changes;
 * it may hold its content for as long as the cache of contents lets it.
 */
export class Version implements Link, BlockOwner {
  readonly place: Place;
  /** undefined: a tombstone. */
  readonly target: Target | undefined;
  readonly previous: Place;
  readonly depth: number;
  readonly jump: Place;
  /** Deltas between this version and a whole body. */
  readonly chain: number;
  /** Bytes of the content. */
  readonly size: number;
  /** The version at `jump`, where it came up already. */
  jumped: Version | undefined;
  /** An earlier version of the path, which may hold the content that this one is a delta on. */
  near: Version | undefined = undefined;
  /** Of how many branches' heads in memory it is the newest: the cache of contents keeps it for longer then. */
  headOf = 0;
  block = noBlock;
  blockBytes = 0;
  /** A content that is too large for a block. */
  bytes: Buffer | undefined = undefined;

  constructor(
    place: Place,
    target: Target | undefined,
    link: Link,
    body: Pick<Body, 'chain' | 'size'>,
    jumped?: Version,
  ) {
    this.place = place;
    this.target = target;
    this.previous = link.previous;
    this.depth = link.depth;
    this.jump = link.jump;
    this.chain = body.chain;
    this.size = body.size;
    this.jumped = jumped;
  }

  get mode(): Mode | undefined {
    return this.target?.mode;
  }

  get blob(): BlobId | undefined {
    return this.target?.blob;
  }

  /** Whether the cache of contents has its content. */
  get isHeld(): boolean {
    return this.block !== noBlock || this.bytes !== undefined;
  }

  isAt(place: Place): boolean {
    return this.place.seq === place.seq && this.place.index === place.index;
  }
}

export function versionOf(place: Place, row: ChangeRow, jumped?: Version): Version {
  const { blob, mode } = row;
  const target = blob === undefined || mode === undefined ? undefined : { blob, mode };
  return new Version(place, target, row, row.body, jumped);
}

/** The link of the version after another, and the version that it jumps to. */
export interface NextLink extends Link {
  readonly jumped: Version | undefined;
}

export const firstLink: NextLink = { previous: nowhere, depth: 0, jump: nowhere, jumped: undefined };

/** `linkAfter` (see `places.ts`) for versions at hand; `load` reads one that is not. */
export function linkAfterVersion(before: Version, load: (place: Place) => Version): NextLink {
  const depth = before.depth + 1;
  const previous = before.place;
  if (jumpDepthOf(depth) === before.depth) return { previous, depth, jump: previous, jumped: before };
  const near = (before.jumped ??= load(before.jump));
  if (near.jump.seq === 0) return { previous, depth, jump: near.place, jumped: near };
  return { previous, depth, jump: near.jump, jumped: near.jumped };
}
