import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { systemTime } from '../../core/time.ts';
import { isSame, processesWith, processSpace, startTimeOf, type ProcessIdentity } from '../../command/processes.ts';
import { endGroup } from '../../command/run-command.ts';

const fileName = 'process.json';
const graceMs = 2000;

const identity = z.object({ pid: z.number(), startTime: z.number() });
const note = z.object({ space: z.string(), owner: identity, command: identity.optional(), mark: z.string() });

/** Notes in a command's directory what runs there and for whom, so that it is found where its owner is killed. */
export function noteCommand(dir: string, mark: string, command: ProcessIdentity | undefined): void {
  const owner = { pid: process.pid, startTime: startTimeOf(process.pid) };
  const space = processSpace();
  if (space !== undefined) writeFileSync(join(dir, fileName), JSON.stringify({ space, owner, command, mark }));
}

/**
 * Ends what commands of owners that are gone have left running below `parent`.
 * Their directories stay: they may hold work. Only processes are touched whose
 * number and start, or whose mark, are those that were noted.
 */
export async function endLeftCommands(parent: string, prefix: string): Promise<void> {
  const space = processSpace();
  if (space === undefined) return;
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    const path = join(parent, name, fileName);
    const left = read(path);
    if (left === undefined || left.space !== space || isSame(left.owner)) continue;
    const { command, mark } = left;
    const first = processesWith(mark)[0];
    // The group is named by its head; where that has gone, its number may be another's by now.
    if (command !== undefined && isSame(command)) await endGroup(command.pid, mark, graceMs, systemTime);
    else if (first !== undefined) await endGroup(first.pid, mark, graceMs, systemTime);
    rmSync(path, { force: true });
  }
}

function read(path: string): z.output<typeof note> | undefined {
  try {
    return note.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}
