import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onCleanup } from './cleanups.ts';
import { run } from './process.ts';
import { tempDir } from './temp.ts';

/** A file system in an image: how it is made and mounted, `IMAGE` and `PLACE` filled in. */
export interface ImageKind {
  readonly bytes: number;
  readonly steps: readonly (readonly string[])[];
}

const loop = (...options: string[]): string[] => ['mount', '-o', 'loop', ...options, 'IMAGE', 'PLACE'];

/** Those that can clone files. */
export const cloning: Readonly<Record<string, ImageKind>> = {
  btrfs: { bytes: 256 << 20, steps: [['mkfs.btrfs', '-q', 'IMAGE'], loop()] },
  xfs: { bytes: 320 << 20, steps: [['mkfs.xfs', '-q', '-m', 'reflink=1', 'IMAGE'], loop()] },
};

/** Those for which case does not count. */
export const folding: Readonly<Record<string, ImageKind>> = {
  ext4: {
    bytes: 64 << 20,
    steps: [
      ['mkfs.ext4', '-q', '-O', 'casefold', '-E', 'encoding=utf8', 'IMAGE'],
      loop(),
      ['rmdir', 'PLACE/lost+found'],
      ['chattr', '+F', 'PLACE'],
    ],
  },
  vfat: { bytes: 64 << 20, steps: [['mkfs.vfat', 'IMAGE'], loop('-t', 'vfat', '-o', 'utf8')] },
  exfat: { bytes: 64 << 20, steps: [['mkfs.exfat', 'IMAGE'], loop('-t', 'exfat')] },
  'exfat-fuse': { bytes: 64 << 20, steps: [['mkfs.exfat', 'IMAGE'], loop('-t', 'exfat-fuse')] },
};

/** For which some names are none. */
export const naming: ImageKind = {
  bytes: 64 << 20,
  steps: [
    ['mkfs.ntfs', '-q', '-F', '-Q', 'IMAGE'],
    ['ntfs-3g', '-o', 'windows_names', 'IMAGE', 'PLACE'],
  ],
};

/** An empty directory on such a file system until the test ends; else why there is none. */
export async function mountImage({ bytes, steps }: ImageKind): Promise<{ readonly dir: string } | { why: string }> {
  if (process.getuid?.() !== 0) return { why: 'only root mounts' };
  const base = tempDir();
  const [image, place] = [join(base, 'image'), join(base, 'place')];
  mkdirSync(place);
  let isMounted = false;
  onCleanup(async () => {
    if (isMounted && (await run('umount', [place])).code !== 0) await run('umount', ['--lazy', place]);
  });
  for (const step of [['truncate', '-s', `${bytes}`, 'IMAGE'], ...steps]) {
    const [command = '', ...args] = step.map((word) => word.replace('IMAGE', image).replace('PLACE', place));
    const done = await run(command, args).catch((error: unknown) => ({ code: 1, stderr: String(error) }));
    isMounted ||= done.code === 0 && args.includes(place);
    if (done.code !== 0) return { why: `${command} failed: ${done.stderr.trim().split('\n')[0] ?? ''}` };
  }
  return { dir: place };
}
