import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { chunkBytesFor } from '../core/allocate.ts';
import { MoundError } from '../core/errors.ts';
import { applyDelta, encodeDelta } from '../format/delta.ts';
import { nowhere, type Body, type Place } from '../format/entry.ts';

/** Deltas to apply at most to read a version: it bounds the cost of a read. */
const chainMax = 16;
/** Below these, deflate gains less than the 50 to 90 us that it costs; most deltas are below. */
const deflateWholeBytesMin = 192;
const deflateDeltaBytesMin = 1024;

const noBytes = Buffer.alloc(0);

export const noBody: Body = { form: 'none', base: nowhere, chain: 0, size: 0, bytes: noBytes, parts: 0 };

/** A stored version that a new one may be written against. */
export interface BodyBase {
  readonly place: Place;
  readonly chain: number;
  readonly content: Buffer;
}

function deflated(bytes: Buffer, bytesMin: number): Buffer | undefined {
  if (bytes.length < bytesMin) return undefined;
  const packed = deflateRawSync(bytes, { level: 1, chunkSize: chunkBytesFor(bytes.length) });
  return packed.length < bytes.length * 0.9 ? packed : undefined;
}

/** A content that another version holds: nothing is stored again. */
export const sameBody = (place: Place, chain: number, size: number): Body => ({
  form: 'same',
  base: place,
  chain,
  size,
  bytes: noBytes,
  parts: 0,
});

/** Chooses how to store a content: as nothing new, as a delta, or whole. */
export function encodeBody(content: Buffer, base: BodyBase | undefined): Body {
  const size = content.length;
  if (base !== undefined && base.chain < chainMax) {
    const common = { base: base.place, chain: base.chain + 1, size, parts: 0 };
    if (base.content.equals(content)) return sameBody(base.place, base.chain, size);
    const delta = encodeDelta(base.content, content);
    if (delta.length < size * 0.6) {
      const packed = deflated(delta, deflateDeltaBytesMin);
      return packed ? { form: 'delta-deflate', bytes: packed, ...common } : { form: 'delta', bytes: delta, ...common };
    }
  }
  const packed = deflated(content, deflateWholeBytesMin);
  const whole = { base: nowhere, chain: 0, size, parts: 0 };
  return packed ? { form: 'deflate', bytes: packed, ...whole } : { form: 'raw', bytes: content, ...whole };
}

/** The content of a body whose stored bytes and base content are at hand. */
export function decodeBody(body: Body, stored: Buffer, base: Buffer): Buffer {
  const content = contentOf(body, stored, base);
  if (content?.length !== body.size) {
    throw new MoundError('object-damaged', `a stored body of ${body.size} bytes cannot be decoded`, {
      size: body.size,
    });
  }
  return content;
}

function contentOf(body: Body, stored: Buffer, base: Buffer): Buffer | undefined {
  switch (body.form) {
    case 'none':
      return noBytes;
    case 'raw':
      return stored;
    case 'deflate':
      return inflate(stored, body.size);
    case 'delta':
      return applyDelta(base, stored, body.size);
    case 'delta-deflate': {
      // A delta was stored only where it was smaller than the content.
      const delta = inflate(stored, body.size);
      return delta && applyDelta(base, delta, body.size);
    }
    case 'same':
      return base;
    case 'purged':
      throw new MoundError('purged', 'the bytes of this object were purged');
  }
}

function inflate(bytes: Buffer, sizeMax: number): Buffer | undefined {
  try {
    return inflateRawSync(bytes, { maxOutputLength: Math.max(1, sizeMax), chunkSize: chunkBytesFor(sizeMax) });
  } catch {
    return undefined;
  }
}
