import { resolve } from 'node:path';
import { exitCodeOfError, exitCodes, MoundError } from '../core/errors.ts';
import { serveRemoteHelper, standardStreams } from '../git/remote-helper.ts';
import { openRepo } from '../repo/open.ts';
import { isRepoDir } from '../store/store-dir.ts';
import { isWorkspaceDir, readMarker } from '../workspace/marker.ts';

/** `git-remote-mound REMOTE URL`, which git starts for `mound::DIR`; the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    const [, url] = argv;
    if (url === undefined) {
      tell("git starts this by itself: 'git clone mound::DIR'");
      return exitCodes.usage;
    }
    const named = resolve(url.replace(/^mound:(:|\/\/)/, ''));
    const dir = isWorkspaceDir(named) ? readMarker(named).repo : named;
    if (!isRepoDir(dir)) {
      const message = `there is no Mound repository in '${dir}'; name its directory, absolute: 'mound::/path/to/repo'`;
      throw new MoundError('no-repository', message, { dir });
    }
    const repo = await openRepo(dir);
    try {
      return await serveRemoteHelper(repo, standardStreams, process.env);
    } finally {
      await repo.close();
    }
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
    return exitCodeOfError(error);
  }
}

const tell = (line: string): void => void process.stderr.write(`mound: ${line.split('\n')[0] ?? ''}\n`);
