export interface CompactReport {
  /** Entries moved into segments. */
  readonly entries: number;
  readonly segments: number;
  /** Bytes of these entries before and after. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}
