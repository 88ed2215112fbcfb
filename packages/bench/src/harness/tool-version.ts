import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What a program says of its version, by the pattern's first group; undefined where it is not there. */
export async function toolVersion(
  command: string,
  args: readonly string[],
  pattern: RegExp,
): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(command, args);
    return pattern.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
