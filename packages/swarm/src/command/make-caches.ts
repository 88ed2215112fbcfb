import { execFile } from 'node:child_process';
import { constants, type Dirent } from 'node:fs';
import { copyFile, cp, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeOwnPlace } from './own-place.ts';
import type { PrivateCache, Seed } from './tool-caches.ts';

export interface MadeCaches {
  /** That lead there. */
  readonly variables: Readonly<Record<string, string>>;
  /** What had to be made elsewhere; whoever removes the caches removes it. */
  readonly elsewhere: readonly string[];
}

/**
 * Programs make sockets in TMPDIR, whose whole path may have 103 bytes on macOS and 107 on Linux, and name them as they
 * like; the system's own place alone takes half of that on macOS.
 */
const tmpPathBytesMax = 60;
const shortParent = '/tmp';

/** Makes the caches below `dir`, which nobody else uses, as they begin. */
export async function makeCaches(dir: string, caches: readonly PrivateCache[]): Promise<MadeCaches> {
  // A process that was killed may have left half of them.
  await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  await mkdir(dir, { recursive: true });
  const variables: Record<string, string> = {};
  const elsewhere: string[] = [];
  for (const { variable, from, seed } of caches) {
    const at = join(dir, variable);
    const short = variable === 'TMPDIR' && Buffer.byteLength(at) > tmpPathBytesMax ? await shortPlace() : undefined;
    variables[variable] = short ?? at;
    if (short !== undefined) {
      elsewhere.push(short);
      continue;
    }
    await mkdir(at);
    if (from !== undefined) await seedInto(at, from, '', seed);
  }
  return { variables, elsewhere };
}

/** undefined where there is none: the long path has to do. */
async function shortPlace(): Promise<string | undefined> {
  try {
    return await makeOwnPlace(shortParent, 'mound-tmp-');
  } catch {
    return undefined;
  }
}

async function seedInto(to: string, from: string, below: string, seed: Seed): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch((): Dirent[] => []);
  for (const entry of entries) {
    const { name } = entry;
    const path = `${below}${name}`;
    const [source, target] = [join(from, name), join(to, name)];
    const how = seed.find(([pattern]) => fits(pattern, path))?.[1];
    if (how === 'fresh') continue;
    if (how === undefined) await symlink(source, target);
    else if (!entry.isDirectory()) await copyTree(source, target, entry.isFile());
    else if (how === 'copied') await copyTree(source, target, false);
    else {
      await mkdir(target);
      await seedInto(target, source, `${path}/`, seed);
    }
  }
}

/** `*` stands for whatever is no slash. */
function fits(pattern: string, path: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.[\]+?^$(){}|\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('[^/]*')}$`).test(path);
}

const run = promisify(execFile);
/** They keep times to the nanosecond, and links within the tree. */
const cpFlags: readonly string[] = process.platform === 'darwin' ? ['-Rpc'] : ['-a', '--reflink=auto'];

/** A copy that shares no bytes with its source but where the file system parts them at a write; `to` is not there yet. */
export async function copyTree(from: string, to: string, isFile: boolean): Promise<void> {
  if (isFile) return copyFile(from, to, constants.COPYFILE_FICLONE);
  try {
    await run('cp', [...cpFlags, from, to]);
  } catch {
    // A cp that knows no such flags, or something that went away meanwhile.
    await rm(to, { recursive: true, force: true });
    await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, force: true });
  }
}
