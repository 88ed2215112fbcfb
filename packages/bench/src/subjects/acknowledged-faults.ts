import type { Acknowledged } from '../workloads/operation.ts';

const faultsShownMax = 5;

/** Compares what a subject holds with what it acknowledged. */
export async function faultsOfAcknowledged(
  acknowledged: Acknowledged,
  heldIds: Iterable<string>,
  read: (path: string) => Buffer | undefined | Promise<Buffer | undefined>,
): Promise<readonly string[]> {
  const faults: string[] = [];
  const counts = new Map<string, number>();
  for (const id of heldIds) counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const id of acknowledged.operationIds) {
    const count = counts.get(id) ?? 0;
    if (count !== 1) faults.push(`commit ${id} is there ${count} times`);
  }
  for (const [path, expected] of acknowledged.files) {
    const held = await read(path);
    if (expected === null) {
      if (held !== undefined) faults.push(`${path} is there though it was deleted`);
    } else if (held === undefined) faults.push(`${path} is not there`);
    else if (!held.equals(expected)) faults.push(`${path} has other content than was acknowledged`);
  }
  if (faults.length <= faultsShownMax) return faults;
  return [...faults.slice(0, faultsShownMax), `and ${faults.length - faultsShownMax} more`];
}
