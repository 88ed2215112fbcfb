import { mkdir } from 'node:fs/promises';
import { seededRandom } from '@mound/vcs';
import { startCommand } from '../../harness/child-process.ts';

/** What the generator makes where there is no long history to replay. */
export interface GeneratedShape {
  readonly seed: number;
  readonly commits: number;
  readonly files: number;
}

type Draw = ReturnType<typeof seededRandom>;

interface Line {
  text: string;
}

/** One simulated project: code-like files that a number of authors go on editing. */
class Project {
  readonly files = new Map<string, Line[]>();
  private readonly draw: Draw;
  private serial = 0;

  constructor(draw: Draw, files: number) {
    this.draw = draw;
    for (let file = 0; file < files; file++) this.add(this.draw.below(120) + 30);
    // Two files that everybody touches, one of them large: what swarms fight over.
    this.files.set('src/registry.ts', this.lines(400));
    this.files.set('src/generated/tables.ts', this.lines(9_000));
  }

  private line(): Line {
    this.serial++;
    const name = `item${this.serial.toString(36)}`;
    const forms = [
      `export const ${name} = ${this.draw.below(1000)};`,
      `export function ${name}(input: number): number {`,
      `  return input * ${this.draw.below(99)} + ${name}Offset;`,
      `  // ${name}: see the note on rounding`,
      '}',
      '',
    ];
    return { text: forms[this.draw.below(forms.length)] ?? '' };
  }

  private lines(count: number): Line[] {
    return Array.from({ length: count }, () => this.line());
  }

  private add(count: number): string {
    const path = `src/part${this.draw.below(9)}/module${this.files.size}.ts`;
    this.files.set(path, this.lines(count));
    return path;
  }

  /** A path by a skewed choice: a few files take a large share of the edits. */
  private pick(): string {
    const paths = [...this.files.keys()];
    if (this.draw.next() < 0.25) return this.draw.next() < 0.6 ? 'src/registry.ts' : 'src/generated/tables.ts';
    return paths[Math.floor(this.draw.next() ** 2 * paths.length)] ?? 'src/registry.ts';
  }

  /** One commit's worth of work; the paths that it changed. */
  change(): ReadonlySet<string> {
    const touched = new Set<string>();
    const roll = this.draw.next();
    if (roll < 0.06) touched.add(this.add(this.draw.below(60) + 10));
    if (roll > 0.97 && this.files.size > 20) {
      const path = this.pick();
      if (path.includes('/part')) {
        this.files.delete(path);
        touched.add(path);
      }
    }
    const edits = 1 + Math.floor(this.draw.next() ** 3 * 4);
    for (let edit = 0; edit < edits; edit++) touched.add(this.edit());
    return touched;
  }

  private edit(): string {
    const path = this.pick();
    const lines = this.files.get(path) ?? [];
    const at = this.draw.below(lines.length + 1);
    const removed = this.draw.below(3);
    const added = this.lines(this.draw.below(3) + (removed === 0 ? 1 : 0));
    lines.splice(at, Math.min(removed, lines.length - at), ...added);
    return path;
  }
}

const text = (lines: readonly Line[]): string => `${lines.map((line) => line.text).join('\n')}\n`;

/** Makes a bare git repository with a seeded history; the same seed makes the same commit ids. */
export async function generateHistory(gitDir: string, shape: GeneratedShape, signal: AbortSignal): Promise<void> {
  await mkdir(gitDir, { recursive: true });
  const options = { cwd: gitDir, env: { ...process.env, GIT_CONFIG_NOSYSTEM: '1' }, signal };
  await startCommand('git', ['init', '-q', '--bare', '-b', 'main', gitDir], options).finish();
  const draw = seededRandom(shape.seed);
  const project = new Project(draw, shape.files);
  const git = startCommand('git', ['fast-import', '--quiet'], options);
  for (let commit = 0; commit < shape.commits; commit++) {
    const touched = commit === 0 ? new Set(project.files.keys()) : project.change();
    const author = `Author ${draw.below(12)} <author@example.invalid> ${1_700_000_000 + commit * 60} +0000`;
    const message = `Generated change ${commit}\n\nTouches ${touched.size} files.\n`;
    const puts = [...touched].map((path) => {
      const lines = project.files.get(path);
      if (lines === undefined) return `D ${path}\n`;
      const content = text(lines);
      return `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`;
    });
    const head = `commit refs/heads/main\nauthor ${author}\ncommitter ${author}\ndata ${Buffer.byteLength(message)}\n${message}`;
    await git.write(`${head}${puts.join('')}\n`);
  }
  await git.finish();
}
