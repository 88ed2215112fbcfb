import { MoundError } from '../core/errors.ts';
import type { Outcome } from '../core/outcome.ts';
import { unpackRow } from '../format/codec.ts';
import { unsealed } from '../format/seal.ts';
import type { LogReader } from '../log/log-reader.ts';
import { outcomeOfEntry } from './outcomes.ts';

/** The first outcome under an operation id, whose entry stands at `seq` if it made one. */
export function firstOutcomeOf(
  reader: LogReader,
  seq: number | undefined,
  operationId: string,
  asked: Buffer,
): Outcome | MoundError | undefined {
  if (seq !== undefined) {
    const entry = reader.mustGetEntry(seq);
    const isSame = 'asked' in entry && entry.asked !== undefined && asked.equals(entry.asked);
    return isSame ? outcomeOfEntry(reader, entry) : mismatch(operationId, seq);
  }
  const unchanged = getUnchanged(reader, operationId);
  if (unchanged === undefined) return undefined;
  return asked.equals(unchanged.asked) ? unchanged.outcome : mismatch(operationId, unchanged.outcome.seq);
}

/** An outcome that made no entry. */
export function getUnchanged(
  reader: LogReader,
  operationId: string,
): { readonly outcome: Outcome & { kind: 'unchanged' }; readonly asked: Uint8Array } | undefined {
  const bytes = reader.store.tables.unchanged.getBinary(Buffer.from(operationId));
  if (bytes === undefined) return undefined;
  const [seq, asked, key] = unpackRow(unsealed(bytes)) as readonly [number, Uint8Array, string];
  if (key !== operationId) throw new MoundError('object-damaged', `the row of operation id '${key}' is damaged`);
  return { outcome: { kind: 'unchanged', seq } as Outcome & { kind: 'unchanged' }, asked };
}

function mismatch(operationId: string, seq: number): MoundError {
  const message = `operation id '${operationId}' stands for another intent (seq ${seq}); use a new id for new content`;
  return new MoundError('operation-mismatch', message, { operationId, seq });
}
