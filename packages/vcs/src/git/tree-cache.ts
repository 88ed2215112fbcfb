import { ObjectReader } from './object-reader.ts';
import { parseTree, type ParsedTree } from './tree-object.ts';

/** Entries of all cached trees together; some 150 bytes each. */
const entriesMax = 300_000;

const emptyTree: ParsedTree = { entries: [], isCanonical: true };

/** Parsed trees by id: a commit's trees are mostly its parent's. */
export class TreeCache {
  readonly #reader: ObjectReader;
  readonly #trees = new Map<string, Promise<ParsedTree>>();
  readonly #weights = new Map<string, number>();
  #weight = 0;

  constructor(reader: ObjectReader) {
    this.#reader = reader;
  }

  /** Undefined is the tree of no commit: empty. Errors: `no-such-object`, `object-damaged`. */
  get(id: string | undefined): Promise<ParsedTree> {
    if (id === undefined) return Promise.resolve(emptyTree);
    const cached = this.#trees.get(id);
    if (cached) {
      // Last used goes last: the map's order is the order of eviction.
      this.#trees.delete(id);
      this.#trees.set(id, cached);
      return cached;
    }
    const tree = this.#load(id);
    this.#trees.set(id, tree);
    return tree;
  }

  async #load(id: string): Promise<ParsedTree> {
    const tree = parseTree(await this.#reader.content(id, 'tree'));
    const weight = tree.entries.length + 2;
    this.#weights.set(id, weight);
    this.#weight += weight;
    for (const oldest of this.#trees.keys()) {
      if (this.#weight <= entriesMax) break;
      this.#trees.delete(oldest);
      this.#weight -= this.#weights.get(oldest) ?? 0;
      this.#weights.delete(oldest);
    }
    return tree;
  }
}
