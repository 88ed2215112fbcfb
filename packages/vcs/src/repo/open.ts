import type { OpenOptions, Repo } from './api.ts';

/** Opens the repository in `dir`. */
export async function openRepo(dir: string, options: OpenOptions = {}): Promise<Repo> {
  throw new Error(`not yet: ${dir} ${String(options.create)}`);
}
