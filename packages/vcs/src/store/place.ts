import { readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Where this process stands, as far as LMDB's locks depend on it. */
export interface Place {
  /** The space in which its process ids count; undefined: the system has but one. */
  pidNamespace(): string | undefined;
  /** Changes with each start of the system. */
  bootId(): string | undefined;
  /** The name of a file system on which processes of several machines may meet; undefined: it is local. */
  sharedFileSystem(dir: string): string | undefined;
}

/** `statfs` types of file systems whose locks or mapped pages other machines do not see. */
const sharedTypes: Readonly<Record<number, string>> = {
  0x6969: 'NFS',
  0x517b: 'SMB',
  0xff534d42: 'CIFS',
  0xfe534d42: 'SMB2',
  0x01021997: '9p',
  0x5346414f: 'AFS',
  0x00c36400: 'Ceph',
  0x01161970: 'GFS2',
  0x7461636f: 'OCFS2',
  0x0bd00bd0: 'Lustre',
  0x73757245: 'Coda',
};
const fuseType = 0x65735546;
/** FUSE file systems that one machine has for itself. */
const localFuse = new Set(['fuseblk', 'fuse.fuse-overlayfs']);

export const systemPlace: Place = {
  pidNamespace: () => orUndefined(() => readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')),
  bootId: () => orUndefined(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  sharedFileSystem: (dir) => nameOfShared(orUndefined(() => statfsSync(dir).type) ?? 0, () => mountTypeOf(dir)),
};

/** `mountType` is asked for FUSE alone, which may be either. */
export function nameOfShared(statfsType: number, mountType: () => string | undefined): string | undefined {
  const type = statfsType >>> 0;
  if (type !== fuseType) return sharedTypes[type];
  const name = mountType() ?? 'FUSE';
  return localFuse.has(name) ? undefined : name;
}

function mountTypeOf(dir: string): string | undefined {
  const path = resolve(dir);
  let found: { readonly point: string; readonly type: string | undefined } | undefined;
  for (const line of (orUndefined(() => readFileSync('/proc/self/mountinfo', 'utf8')) ?? '').split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const point = before
      .split(' ')[4]
      ?.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
    if (point === undefined) continue;
    const isAbove = path === point || path.startsWith(point === '/' ? '/' : `${point}/`);
    if (isAbove && point.length >= (found?.point.length ?? 0)) found = { point, type: after.split(' ')[0] };
  }
  return found?.type;
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
