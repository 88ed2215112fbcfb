import type { TreeCache } from './tree-cache.ts';
import { emptyTreeId } from './object-id.ts';
import { isDirectory } from './tree-object.ts';

/** Ids whose oddness is remembered; forgotten ones are looked at again. */
const knownMax = 300_000;

/**
 * Which trees the flat heads cannot give back: those not in canonical form,
 * with an empty directory, or above an odd one. All others are computed again
 * from paths, modes and blobs alone, with the same id.
 */
export class OddTrees {
  readonly #trees: TreeCache;
  /** A promise while it is looked at. */
  readonly #known = new Map<string, boolean | Promise<boolean>>();

  constructor(trees: TreeCache) {
    this.#trees = trees;
  }

  /** The odd trees at and below a commit's tree; none for nearly every commit. */
  async below(root: string): Promise<string[]> {
    if (!(await this.#isOdd(root))) return [];
    const { entries } = await this.#trees.get(root);
    const found = [root];
    for (const { mode, id } of entries) {
      // An empty tree is odd only in that another names it.
      if (isDirectory(mode)) found.push(...(id === emptyTreeId ? [id] : await this.below(id)));
    }
    return found;
  }

  #isOdd(id: string): boolean | Promise<boolean> {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const answer = this.#look(id);
    this.#known.set(id, answer);
    if (this.#known.size > knownMax) {
      for (const oldest of this.#known.keys()) {
        if (this.#known.size <= knownMax * 0.9) break;
        this.#known.delete(oldest);
      }
    }
    return answer;
  }

  async #look(id: string): Promise<boolean> {
    const { entries, isCanonical } = await this.#trees.get(id);
    // Every subtree is looked at, also below an odd one, so that `below` names them all.
    let isOdd = !isCanonical;
    for (const { mode, id: below } of entries) {
      if (!isDirectory(mode)) continue;
      const answer = this.#isOdd(below);
      // Most are known, and those that are not are the few that changed.
      if ((typeof answer === 'boolean' ? answer : await answer) || below === emptyTreeId) isOdd = true;
    }
    if (this.#known.has(id)) this.#known.set(id, isOdd);
    return isOdd;
  }
}
