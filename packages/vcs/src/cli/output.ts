import pc from 'picocolors';
import { exitCodes } from '../core/errors.ts';
import type { Outcome } from '../core/outcome.ts';
import { outcomeFields } from '../wire/index.ts';

export function exitCodeOfOutcome(outcome: Outcome): number {
  switch (outcome.kind) {
    case 'conflicted':
    case 'parked':
      return exitCodes.kept;
    case 'rejected':
      return exitCodes.rejected;
    default:
      return exitCodes.ok;
  }
}

/** Writes to stdout and resolves when it is taken, so that no exit cuts it off. */
export async function writeOut(bytes: string | Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(bytes, (error) => {
      // A reader that has gone away (`| head`) is no fault.
      if (error && (error as NodeJS.ErrnoException).code !== 'EPIPE') reject(error);
      else resolve();
    });
  });
}

export const writeLine = (line: string): Promise<void> => writeOut(`${line}\n`);
export const writeJson = (value: object): Promise<void> => writeLine(JSON.stringify(value));

export function warn(line: string): void {
  const name = process.stderr.isTTY ? pc.red('mound:') : 'mound:';
  process.stderr.write(`${name} ${line.split('\n')[0] ?? ''}\n`);
}

export async function printOutcome(outcome: Outcome, isJson: boolean): Promise<number> {
  if (isJson) await writeJson(outcomeFields(outcome));
  else if (outcome.kind === 'rejected') warn(`rejected (${outcome.code}): ${outcome.message}; ${outcome.next}`);
  else await writeLine(describeOutcome(outcome));
  return exitCodeOfOutcome(outcome);
}

function describeOutcome(outcome: Exclude<Outcome, { kind: 'rejected' }>): string {
  switch (outcome.kind) {
    case 'landed':
      return `landed at ${outcome.seq}`;
    case 'merged':
      return `merged at ${outcome.seq}: ${outcome.merged.map(({ path }) => path).join(', ')}`;
    case 'unchanged':
      return `unchanged since ${outcome.seq}`;
    case 'conflicted':
      return `conflicted as ${outcome.conflict}: ${outcome.paths.join(', ')}; 'mound conflicts show ${outcome.conflict}' shows the sides`;
    case 'parked':
      return `parked as ${outcome.parked}: ${outcome.paths.join(', ')} is frozen`;
  }
}
