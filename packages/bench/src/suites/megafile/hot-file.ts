import { absent, openRepo, seededRandom, version, type Author, type Repo } from '@mound/vcs';

import { sourceLine } from '../../workloads/source-text.ts';

export interface HotFileParameters {
  readonly agents: number;
  readonly lines: number;
  readonly modules: number;
  /** Of one phase. */
  readonly edits: number;
  readonly seed: number;
}

/** What came of the edits of one phase. */
export interface Phase {
  readonly landed: number;
  readonly conflicts: number;
  /** How often an edit was found stale, to be merged and offered again. */
  readonly stale: number;
  readonly seconds: number;
  /** Edits that neither stand, nor were replaced by one that had seen them, nor lie in a conflict. */
  readonly lost: number;
}

const hotPath = 'src/everything.ts';
const author: Author = { name: 'decomposer', kind: 'agent', agent: 'decomposer' };

/** One line of each edit bears a mark that no other line ever bears. */
const markOf = (line: string): string | undefined => /edit-[\w-]+/.exec(line)?.[0];

/** One hot file, many agents that edit lines of it at random places, and its split. */
export class HotFile {
  readonly #repo: Repo;
  readonly #parameters: HotFileParameters;
  readonly #random: ReturnType<typeof seededRandom>;
  readonly #replaced = new Set<string>();
  readonly #landed = new Set<string>();
  #paths: readonly string[] = [hotPath];

  private constructor(repo: Repo, parameters: HotFileParameters) {
    this.#repo = repo;
    this.#parameters = parameters;
    this.#random = seededRandom(parameters.seed);
  }

  static async create(dir: string, parameters: HotFileParameters): Promise<HotFile> {
    const hot = new HotFile(await openRepo(dir, { create: true }), parameters);
    const text = Array.from({ length: parameters.lines }, (_, at) => `${sourceLine(hot.#random)} // ${at}\n`).join('');
    await hot.#repo.put(hotPath, text, { author, expect: absent });
    return hot;
  }

  /** Every agent makes its next edit, on what it then reads, when it was told what became of the last. */
  async run(phase: string): Promise<Phase> {
    const { agents, edits } = this.#parameters;
    const before = this.#repo.waits().stale;
    const outcomes = { landed: 0, conflicts: 0 };
    let next = 0;
    const began = performance.now();
    const agent = async (number: number): Promise<void> => {
      for (let at = next++; at < edits; at = next++) {
        const kind = await this.#edit(number, `edit-${phase}-${at}`);
        if (kind === 'conflicted') outcomes.conflicts++;
        else outcomes.landed++;
      }
    };
    await Promise.all(Array.from({ length: agents }, (_, number) => agent(number)));
    const seconds = (performance.now() - began) / 1000;
    return { ...outcomes, stale: this.#repo.waits().stale - before, seconds, lost: this.#lost() };
  }

  async #edit(number: number, mark: string): Promise<string> {
    const path = this.#paths[this.#random.below(this.#paths.length)] ?? hotPath;
    const snapshot = this.#repo.snapshot();
    const lines = (snapshot.readText(path) ?? '').split(/(?<=\n)/);
    const at = this.#random.below(lines.length);
    const seen = markOf(lines[at] ?? '');
    const content = lines.with(at, `  ${mark}(${this.#random.below(1e6)});\n`).join('');
    const name = `agent-${number}`;
    const outcome = await this.#repo.put(path, content, {
      author: { name, kind: 'agent', agent: name },
      expect: version(snapshot.head(path)?.version ?? 0),
    });
    if (outcome.kind === 'landed' || outcome.kind === 'merged') {
      this.#landed.add(mark);
      if (seen !== undefined) this.#replaced.add(seen);
    } else if (outcome.kind !== 'conflicted') throw new Error(`${mark} came to ${outcome.kind}`);
    return outcome.kind;
  }

  #lost(): number {
    const standing = new Set(
      this.#repo
        .snapshot()
        .list()
        .flatMap(({ path }) =>
          (this.#repo.snapshot().readText(path) ?? '').split('\n').flatMap((line) => markOf(line) ?? []),
        ),
    );
    return [...this.#landed].filter((mark) => !standing.has(mark) && !this.#replaced.has(mark)).length;
  }

  /** Into modules of equal size, which nobody has to share any more; `isControl`: into one that holds everything. */
  async split(isControl: boolean): Promise<void> {
    const lines = (this.#repo.snapshot().readText(hotPath) ?? '').split(/(?<=\n)/);
    const count = isControl ? 1 : this.#parameters.modules;
    const size = Math.ceil(lines.length / count);
    const modules = Array.from({ length: count }, (_, at) => ({
      path: `src/everything/part-${String(at).padStart(4, '0')}.ts`,
      content: lines.slice(at * size, (at + 1) * size).join(''),
    })).filter(({ content }) => content !== '');
    const { outcome } = await this.#repo.split(hotPath, { author, modules, remains: null });
    if (outcome.kind !== 'landed') throw new Error(`the split came to ${outcome.kind}`);
    this.#paths = modules.map(({ path }) => path);
  }

  async close(): Promise<void> {
    await this.#repo.close();
  }
}
