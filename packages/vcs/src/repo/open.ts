import { resolve } from 'node:path';
import { isMoundError } from '../core/errors.ts';
import { systemClock, systemRandom, type Clock, type Random } from '../core/ports.ts';
import { noSteps, type Steps } from '../core/steps.ts';
import { isRepoDir } from '../store/store-dir.ts';
import type { OpenOptions, Repo } from './api.ts';
import { EmbeddedRepo } from './repo.ts';

export interface Ports {
  readonly clock?: Clock;
  readonly random?: Random;
  /** For tests that make a process die at a named step. */
  readonly steps?: Steps;
}

/**
 * Opens the repository in `dir` (the directory that holds `.mound/`).
 * Errors: `no-repository`, `corrupt-store`, `format-newer`, `format-unknown`, `permission-denied`, `disk-full`,
 * `other-namespace`, `shared-file-system`, `too-many-readers`.
 */
export async function openRepo(dir: string, options: OpenOptions & Ports = {}): Promise<Repo> {
  const { clock = systemClock, random = systemRandom, steps = noSteps, readOnly = false, ...more } = options;
  const { drivers = [], contentsBytesMax } = more;
  const home = resolve(dir);
  const embedded = { steps, drivers, ...(contentsBytesMax !== undefined && { contentsBytesMax }) };
  if (options.create !== true || isRepoDir(home))
    return EmbeddedRepo.open(home, clock, random, { ...embedded, readOnly });
  try {
    return await EmbeddedRepo.create(home, clock, random, embedded);
  } catch (error) {
    // Another process came first: its repository is as good.
    if (isMoundError(error, 'already-a-repository')) return EmbeddedRepo.open(home, clock, random, embedded);
    throw error;
  }
}

/** Makes a repository. Errors: `already-a-repository` and those of {@link openRepo}. */
export async function initRepo(dir: string, ports: Ports = {}): Promise<Repo> {
  const { clock = systemClock, random = systemRandom, steps = noSteps } = ports;
  return EmbeddedRepo.create(resolve(dir), clock, random, { steps });
}
