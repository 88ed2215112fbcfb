/** A commit of a history, its parents by place in the list. */
export interface GraphCommit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly number[];
}

/** Commits of `git log --topo-order --format='%H %T %P'`: a child always stands before its parents. */
export function graphOf(log: string): GraphCommit[] {
  const rows = log.split('\n').filter((line) => line !== '');
  const places = new Map(rows.map((row, place) => [row.slice(0, row.indexOf(' ')), place]));
  return rows.map((row) => {
    const [id = '', tree = '', ...parents] = row.split(' ');
    // A parent beyond the edge of a shallow clone is not there.
    return { id, tree, parents: parents.flatMap((parent) => places.get(parent) ?? []) };
  });
}

const ofOne = 1;
const ofOther = 2;
const isStale = 4;

/** Every best common ancestor of two commits, by place. */
export function mergeBases(graph: readonly GraphCommit[], one: number, other: number): number[] {
  const flags = new Map<number, number>();
  const queue = new PlaceQueue();
  const paint = (place: number, flag: number): void => {
    const before = flags.get(place);
    if (before === undefined) queue.push(place);
    flags.set(place, (before ?? 0) | flag);
  };
  paint(one, ofOne);
  paint(other, ofOther);
  const found: number[] = [];
  // Children come first, so that a commit has all its flags when it is its turn.
  for (let place = queue.pop(); place !== undefined; place = queue.pop()) {
    let flag = flags.get(place) ?? 0;
    if ((flag & isStale) === 0 && flag === (ofOne | ofOther)) {
      found.push(place);
      flag |= isStale;
    }
    for (const parent of graph[place]?.parents ?? []) paint(parent, flag);
    if ((flag & isStale) === 0) continue;
    if (queue.every((waiting) => ((flags.get(waiting) ?? 0) & isStale) !== 0)) break;
  }
  return found;
}

/** A heap of places, the lowest first. */
class PlaceQueue {
  readonly #heap: number[] = [];

  every(test: (place: number) => boolean): boolean {
    return this.#heap.every(test);
  }

  push(place: number): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(place);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((heap[parent] as number) <= place) break;
      heap[at] = heap[parent] as number;
      at = parent;
    }
    heap[at] = place;
  }

  pop(): number | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (heap.length === 0 || last === undefined) return top;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as number) < (heap[child] as number)) child++;
      if ((heap[child] as number) >= last) break;
      heap[at] = heap[child] as number;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}
