import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { exitCodes, MoundError } from '../core/errors.ts';
import { isBlobId, type BlobId } from '../core/ids.ts';
import { Context } from './context.ts';
import type { Finish } from './main.ts';
import { writeJson, writeLine } from './output.ts';

interface PurgeFlags {
  readonly blob?: BlobId[];
  readonly containing?: string;
  readonly reason: string;
  readonly dryRun?: true;
}

function parseBlobs(text: string, before: BlobId[] = []): BlobId[] {
  if (!isBlobId(text)) throw new MoundError('invalid-argument', `'${text}' is no blob id`, { found: text });
  return [...before, text];
}

/** What a file holds but for the newline at its end, which editors and `echo` put there. */
function secretIn(file: string): Buffer {
  try {
    const bytes = readFileSync(file);
    return bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
  } catch (cause) {
    throw new MoundError('invalid-argument', `${file} cannot be read`, { file }, cause);
  }
}

export function addPurgeCommand(program: Command, finish: Finish): void {
  program
    .command('purge')
    .description('remove objects from the whole history, and their remains from the file')
    .option('--blob <id>', 'this object; may be given again', parseBlobs)
    .option('--containing <file>', 'every object that contains what this file holds')
    .requiredOption('--reason <text>', 'why; it stands in the log')
    .option('--dry-run', 'only say what would go')
    .action(async ({ blob, containing, reason, dryRun }: PurgeFlags, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const report = await repo.purge({
          author: context.author(),
          reason,
          ...(blob && { blobs: blob }),
          ...(containing !== undefined && { containing: secretIn(containing) }),
          ...(dryRun && { dryRun }),
        });
        if (context.isJson) await writeJson(report);
        else {
          await writeLine(
            `${report.dryRun ? 'would purge' : 'purged'} ${report.blobs.length} objects, held by ${report.seqs.length} entries`,
          );
          if (report.pagesLeft > 0) await writeLine(`${report.pagesLeft} free pages are held by readers: purge again`);
          for (const id of report.blobs) await writeLine(`  ${id}`);
          for (const id of report.gitCommits) await writeLine(`git commit ${id} holds it: rewrite it there`);
          for (const { seq, where } of report.mentions)
            await writeLine(`seq ${seq}: the ${where} contains it and stays`);
        }
        finish(exitCodes.ok);
      });
    });
}
