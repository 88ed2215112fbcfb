import type ts from 'typescript';

/** The files that a build reads, by path. */
export type Tree = ReadonlyMap<string, string>;

/** What the compiler needs to know of the language's own types. */
const libPath = 'lib.d.ts';
const libText =
  'interface Array<T>{readonly length:number;[at:number]:T}interface Boolean{}interface CallableFunction{}interface Function{}' +
  'interface IArguments{}interface NewableFunction{}interface Number{}interface Object{}interface RegExp{}interface String{}';

/** The TypeScript compiler, where it is installed. */
export class Build {
  readonly version: string;
  readonly #ts: typeof ts;
  /** By path and text: most files are the same in the next build. */
  readonly #parsed = new Map<string, { readonly text: string; readonly file: ts.SourceFile }>();

  private constructor(compiler: typeof ts) {
    this.#ts = compiler;
    this.version = compiler.version;
  }

  static async load(): Promise<Build | undefined> {
    try {
      const module = (await import('typescript')) as unknown as { readonly default: typeof ts };
      return new Build(module.default);
    } catch {
      return undefined;
    }
  }

  /** What is wrong with a tree, a line each; none: it builds. */
  faults(tree: Tree): string[] {
    const compiler = this.#ts;
    const options: ts.CompilerOptions = {
      noEmit: true,
      strict: true,
      noLib: true,
      types: [],
      module: compiler.ModuleKind.ESNext,
      moduleResolution: compiler.ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true,
      target: compiler.ScriptTarget.ES2022,
    };
    const textOf = (path: string): string | undefined => (path === libPath ? libText : tree.get(path));
    const host: ts.CompilerHost = {
      fileExists: (path) => textOf(path) !== undefined,
      readFile: textOf,
      getSourceFile: (path) => this.#sourceFile(path, textOf(path)),
      getDefaultLibFileName: () => libPath,
      writeFile: () => undefined,
      getCurrentDirectory: () => '',
      getCanonicalFileName: (path) => path,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
    };
    const program = compiler.createProgram([libPath, ...tree.keys()], options, host);
    return compiler
      .getPreEmitDiagnostics(program)
      .map(
        ({ file, messageText }) =>
          `${file?.fileName ?? ''}: ${compiler.flattenDiagnosticMessageText(messageText, ' ')}`,
      );
  }

  #sourceFile(path: string, text: string | undefined): ts.SourceFile | undefined {
    if (text === undefined) return undefined;
    const known = this.#parsed.get(path);
    if (known?.text === text) return known.file;
    const file = this.#ts.createSourceFile(path, text, this.#ts.ScriptTarget.ES2022, true);
    this.#parsed.set(path, { text, file });
    return file;
  }
}
