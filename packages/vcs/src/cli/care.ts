import type { Command } from 'commander';
import { exitCodes } from '../core/errors.ts';
import { limits } from '../core/limits.ts';
import { FileCache } from '../workspace/index.ts';
import { fsckRepo, repairRepo } from '../repo/care.ts';
import type { FsckReport } from '../views/types.ts';
import { Context, parseCount } from './context.ts';
import { writeJson, writeLine } from './output.ts';
import type { Finish } from './main.ts';

async function printFsck(report: FsckReport, repaired: number | undefined): Promise<void> {
  if (repaired !== undefined) await writeLine(`${repaired} rows of indexes rebuilt`);
  for (const { code, seq, message, neededBy } of report.errors) {
    await writeLine(`${code}${seq === 0 ? '' : ` at seq ${seq}`}: ${message}`);
    if (!neededBy) continue;
    const { count, commits } = neededBy;
    await writeLine(
      `  needed by ${count} commits${commits.length > 0 ? `: ${commits.join(' ')}` : ''}${count > commits.length ? ' …' : ''}`,
    );
  }
  const more = report.errorCount - report.errors.length;
  if (more > 0) await writeLine(`and ${more} more`);
  await writeLine(`${report.entries} entries, ${report.objects} objects: ${report.ok ? 'ok' : 'damaged'}`);
}

/** fsck, gc, stats. */
export function addCareCommands(program: Command, finish: Finish): void {
  program
    .command('fsck')
    .description('verify every page, object, chain and index')
    .option('--repair', 'rebuild the indexes from the log first')
    .action(async (flags: { repair?: true }, command: Command) => {
      const context = new Context(command);
      const repaired = flags.repair === true ? await repairRepo(context.repoDir()) : undefined;
      const report = repaired?.fsck ?? (await fsckRepo(context.repoDir()));
      if (context.isJson) await writeJson({ ...report, ...(repaired && { repaired: repaired.rows }) });
      else await printFsck(report, repaired?.rows);
      finish(report.ok ? exitCodes.ok : exitCodes.other);
    });

  program
    .command('gc')
    .description('remove staged objects that nothing names, deflate older log entries together')
    .option('--dry-run', 'only say what would be removed')
    .option('--grace <ms>', `how long one stays; default ${limits.objectGraceMs}`, parseCount)
    .action(async ({ dryRun, grace }: { dryRun?: true; grace?: number }, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const options = { ...(dryRun && { dryRun }), ...(grace !== undefined && { graceMs: grace }) };
        const report = await repo.gc(options);
        const { graceMs = limits.objectGraceMs } = options;
        const files = new FileCache(repo.dir).prune(graceMs, { dryRun: dryRun === true });
        const kept = Object.entries(report.kept).filter(([, count]) => count > 0);
        const said = kept.map(([reason, count]) => `${count} ${reason}`).join(', ');
        if (context.isJson) await writeJson({ ...report, files });
        else {
          await writeLine(
            `${report.dryRun ? 'would remove' : 'removed'} ${report.objects} objects, ${report.bytes} bytes${said === '' ? '' : `; kept ${said}`}; ${report.log.entries} log entries compacted`,
          );
          const { removed, kept: linked, bytes } = files;
          if (removed + linked > 0) {
            await writeLine(`${removed} files that no workspace links, ${bytes} bytes; kept ${linked}`);
          }
        }
        finish(exitCodes.ok);
      });
    });

  program
    .command('backup')
    .description('copy the repository while writers run; the copy is a repository')
    .argument('<dir>', 'where the copy comes to be')
    .action(async (dir: string, _flags: object, command: Command) => {
      const context = new Context(command);
      await context.withRepo(async (repo) => {
        const { dir: backup, seq, bytes } = await repo.backup(dir);
        await (context.isJson
          ? writeJson({ backup, seq, bytes })
          : writeLine(`copied up to seq ${seq}, ${bytes} bytes, into ${backup}`));
        finish(exitCodes.ok);
      });
    });

  program
    .command('stats')
    .description('sizes and counts')
    .action(async (_flags: object, command: Command) => {
      const context = new Context(command);
      await context.withReadRepo(async (repo) => {
        const stats = repo.stats();
        if (context.isJson) await writeJson(stats);
        else {
          const { bytesByKind, hunks, grammars, ...counts } = stats;
          for (const [name, value] of Object.entries(counts)) await writeLine(`${name}  ${String(value)}`);
          await writeLine(
            `grammars  ${grammars.join(' ') || 'none is installed: source files are merged by line alone'}`,
          );
          for (const [fate, count] of Object.entries(hunks)) await writeLine(`hunks.${fate}  ${count}`);
          for (const [kind, bytes] of Object.entries(bytesByKind)) await writeLine(`bytes.${kind}  ${bytes}`);
        }
        finish(exitCodes.ok);
      });
    });
}
