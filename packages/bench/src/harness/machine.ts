import { execFile } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';

/** What a reader needs to judge the figures; nothing that names the host or its directories. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMiB: number;
  readonly platform: string;
  readonly node: string;
  /** `missing` where there is no git. */
  readonly git: string;
}

export async function gitVersion(): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('git', ['--version']);
    return /(\d+\.\d+(\.\d+)*)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}

export async function describeMachine(): Promise<Machine> {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryMiB: Math.round(totalmem() / 1024 / 1024),
    platform: `${process.platform}-${process.arch}`,
    node: process.versions.node,
    git: (await gitVersion()) ?? 'missing',
  };
}
