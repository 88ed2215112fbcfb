import { nowhere, type LandingEntry, type Place } from '../format/entry.ts';
import type { LogReader } from '../log/log-reader.ts';
import { placeAsOf } from '../log/places.ts';
import { defaultSignals, parseSignalsBytes, signalsKey, type SignalPolicy } from '../rules/signals.ts';

/** The policies of signals that were in force at past seqs. */
export class SignalHistory {
  private readonly reader: LogReader;
  private head: Place = nowhere;
  private readonly known = new Map<number, SignalPolicy>();

  constructor(reader: LogReader) {
    this.reader = reader;
  }

  /** Looks for newer policies; call it after a refresh. */
  refresh(): void {
    this.head = this.reader.recordHead(signalsKey);
  }

  asOf(seq: number): SignalPolicy {
    const place = this.head.seq === 0 ? nowhere : placeAsOf(this.head, seq, this.reader.linkOfRecord);
    if (place.seq === 0) return defaultSignals;
    const known = this.known.get(place.seq);
    if (known !== undefined) return known;
    const { value } = this.reader.record(place);
    const policy = value === null ? defaultSignals : parseSignalsBytes(value);
    this.known.set(place.seq, policy);
    return policy;
  }
}

/**
 * FileVersion to which a change of a landing returned its file, within the newest versions; undefined where it is
 * new, or the version before it already.
 */
export function returnedTo(
  reader: LogReader,
  { changes, gitRaw }: LandingEntry,
  index: number,
  versions: number,
): number | undefined {
  const row = changes[index];
  if (row === undefined || row.depth < 2 || gitRaw !== undefined) return undefined;
  let at = row.previous;
  for (let back = 1; back <= versions && at.seq > 0; back++) {
    const version = reader.version(at);
    if (version.blob === row.blob && version.mode === row.mode) return back === 1 ? undefined : at.seq;
    at = version.previous;
  }
  return undefined;
}
