import type { Acknowledged, CommitOperation } from './operation.ts';

/** What must be there once all these operations are acknowledged. */
export function acknowledgedBy(operations: readonly CommitOperation[]): Acknowledged {
  const files = new Map<string, Buffer | null>();
  for (const { changes } of operations) for (const { path, content } of changes) files.set(path, content);
  return { operationIds: operations.map(({ id }) => id), files };
}
