import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { systemClock, systemRandom, type Clock, type Random } from '../core/ports.ts';
import { findRepoDir } from '../store/store.ts';
import type { OpenOptions, Repo } from './api.ts';
import { EmbeddedRepo } from './repo.ts';

export interface Ports {
  readonly clock?: Clock;
  readonly random?: Random;
}

/**
 * Opens the repository in `dir` (the directory that holds `.mound/`).
 * Errors: `no-repository`, `corrupt-store`, `format-newer`, `format-unknown`, `permission-denied`, `disk-full`.
 */
export async function openRepo(dir: string, options: OpenOptions & Ports = {}): Promise<Repo> {
  const { clock = systemClock, random = systemRandom } = options;
  const home = resolve(dir);
  const isThere = findRepoDir(home) === home && existsSync(home);
  if (isThere || options.create !== true) return EmbeddedRepo.open(home, clock);
  return EmbeddedRepo.create(home, clock, random);
}

/** Makes a repository. Errors: `already-a-repository` and those of {@link openRepo}. */
export async function initRepo(dir: string, ports: Ports = {}): Promise<Repo> {
  const { clock = systemClock, random = systemRandom } = ports;
  return EmbeddedRepo.create(resolve(dir), clock, random);
}
