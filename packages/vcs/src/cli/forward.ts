import { createInterface } from 'node:readline';
import { exitCodes, isMoundError } from '../core/errors.ts';
import { goesThroughServer } from './command-of.ts';
import { stdinSoFar } from './context.ts';
import { writeOut } from './output.ts';

/** Who acts is who acts here, not who serves. */
function named(words: readonly string[]): string[] {
  const author = process.env['MOUND_AUTHOR'] ?? '';
  const isSaid = words.some((word) => ['--author', '--agent'].includes(word.split('=')[0] ?? ''));
  return author === '' || isSaid ? [] : ['--author', author];
}

/**
 * A store that cannot be opened from here (a container's pid namespace, another machine's file system) may be served
 * where it is: then the command is run there. Gives its exit code; undefined: it has to fail as it did.
 */
export async function forward(fault: unknown, words: readonly string[]): Promise<number | undefined> {
  if (!isMoundError(fault, 'other-namespace') && !isMoundError(fault, 'shared-file-system')) return undefined;
  const dir = fault.fields['repo'];
  if (typeof dir !== 'string' || !goesThroughServer(words)) return undefined;
  const [{ readServerAccess, socketPathOf }, { runCommand }] = await Promise.all([
    import('../server/access-file.ts'),
    import('../client/index.ts'),
  ]);
  const access = readServerAccess(dir);
  if (access?.socket === undefined) return undefined;
  // Its path may be another one here than where the server is.
  const frames = await runCommand(
    { ...access, url: 'http://mound', socket: socketPathOf(dir) },
    { words: [...named(words), ...words], stdin: stdinSoFar() },
  ).catch(() => undefined);
  if (frames === undefined) return undefined;
  for await (const line of createInterface({ input: frames, crlfDelay: Infinity })) {
    const frame = JSON.parse(line) as { out?: string; err?: string; code?: number | null };
    if (frame.out !== undefined) await writeOut(Buffer.from(frame.out, 'base64'));
    else if (frame.err !== undefined) process.stderr.write(Buffer.from(frame.err, 'base64'));
    else return frame.code ?? exitCodes.interrupted;
  }
  process.stderr.write('mound: the server went away before the command ended; what it did is not known\n');
  return exitCodes.other;
}
