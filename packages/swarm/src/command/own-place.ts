import { readdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { isSame, startTimeOf } from './processes.ts';

/** A new directory whose name says which process it is for; those of processes that are gone go first (Linux). */
export function makeOwnPlace(parent: string, stem: string): Promise<string> {
  for (const name of readdirSync(parent)) {
    if (!name.startsWith(stem)) continue;
    const [, pid, startTime] = /^(\d+)\.(\d+)\./.exec(name.slice(stem.length)) ?? [];
    const isLeft = pid !== undefined && !isSame({ pid: Number(pid), startTime: Number(startTime) });
    if (isLeft) rmSync(join(parent, name), { recursive: true, force: true });
  }
  return mkdtemp(join(parent, `${stem}${process.pid}.${startTimeOf(process.pid) ?? ''}.`));
}
