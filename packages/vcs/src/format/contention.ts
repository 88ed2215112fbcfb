/** One intent that found a file changed under it. */
export interface ContentionMark {
  /** Entry of the landing that merged it, or of its conflict. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly authorId: number;
}

/** Newest marks that a row keeps. */
export const contentionMarksMax = 32;

const markBytes = 16;

export function decodeMarksOf(row: Uint8Array): ContentionMark[] {
  const bytes = Buffer.from(row.buffer, row.byteOffset, row.length);
  const marks: ContentionMark[] = [];
  for (let at = 0; at + markBytes <= bytes.length; at += markBytes) {
    marks.push({
      seq: bytes.readUIntBE(at, 6),
      time: bytes.readUIntBE(at + 6, 6),
      authorId: bytes.readUInt32BE(at + 12),
    });
  }
  return marks;
}

/** A row with one mark more, the oldest left out where there are too many. */
export function withMark(row: Uint8Array | undefined, { seq, time, authorId }: ContentionMark): Buffer {
  const mark = Buffer.alloc(markBytes);
  mark.writeUIntBE(seq, 0, 6);
  // A clock may stand before 1970.
  mark.writeUIntBE(Math.max(0, time), 6, 6);
  mark.writeUInt32BE(authorId, 12);
  const kept = (row ?? Buffer.alloc(0)).subarray(
    Math.max(0, (row?.length ?? 0) - markBytes * (contentionMarksMax - 1)),
  );
  return Buffer.concat([kept, mark]);
}

/** When a file was flagged last. */
export interface FlagRow {
  readonly seq: number;
  readonly time: number;
}

export function encodeFlag({ seq, time }: FlagRow): Buffer {
  const row = Buffer.alloc(12);
  row.writeUIntBE(seq, 0, 6);
  row.writeUIntBE(Math.max(0, time), 6, 6);
  return row;
}

export function decodeFlag(row: Uint8Array): FlagRow {
  const bytes = Buffer.from(row.buffer, row.byteOffset, row.length);
  return { seq: bytes.readUIntBE(0, 6), time: bytes.readUIntBE(6, 6) };
}
