import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { extract, type NodeRoles } from './extract.ts';
import { ecmascriptRoles } from './ecmascript.ts';
import type { Outliner } from './outline.ts';
import { remembered } from './remembered.ts';
import { rustRoles } from './rust.ts';

/** A language that the structural driver reads. To add one: its package, its file, the roles of its nodes. */
interface Language {
  readonly extensions: readonly string[];
  /** Optional dependency of this package. */
  readonly packageName: string;
  readonly wasm: string;
  readonly roles: NodeRoles;
}

const languages: readonly Language[] = [
  {
    extensions: ['.ts', '.mts', '.cts'],
    packageName: 'tree-sitter-typescript',
    wasm: 'tree-sitter-typescript.wasm',
    roles: ecmascriptRoles,
  },
  {
    extensions: ['.tsx'],
    packageName: 'tree-sitter-typescript',
    wasm: 'tree-sitter-tsx.wasm',
    roles: ecmascriptRoles,
  },
  {
    extensions: ['.js', '.mjs', '.cjs', '.jsx'],
    packageName: 'tree-sitter-javascript',
    wasm: 'tree-sitter-javascript.wasm',
    roles: ecmascriptRoles,
  },
  { extensions: ['.rs'], packageName: 'tree-sitter-rust', wasm: 'tree-sitter-rust.wasm', roles: rustRoles },
];

/** A grammar that is installed, loaded when it is first asked for. */
export class Grammar {
  /** Of its package: another one may read a text in another way. */
  readonly version: string;
  private readonly language: Language;
  private readonly file: string;
  private loading: Promise<void> | undefined;
  private loaded: Outliner | undefined;

  constructor(language: Language, file: string, version: string) {
    this.language = language;
    this.file = file;
    this.version = version;
  }

  /** undefined until {@link load} has ended, and where it cannot be loaded. */
  get outline(): Outliner | undefined {
    return this.loaded;
  }

  load(): Promise<void> {
    this.loading ??= this.loadOnce().catch(() => undefined);
    return this.loading;
  }

  private async loadOnce(): Promise<void> {
    const { Language: TreeLanguage, Parser } = await import('web-tree-sitter');
    await Parser.init();
    const parser = new Parser();
    parser.setLanguage(await TreeLanguage.load(readFileSync(this.file)));
    const { roles } = this.language;
    this.loaded = remembered((text) => {
      const tree = parser.parse(text);
      if (tree === null) return undefined;
      try {
        return tree.rootNode.hasError ? undefined : extract(roles, text, tree.rootNode, 0, text.length);
      } finally {
        tree.delete();
      }
    });
  }
}

const found = new Map<Language, Grammar | undefined>();

/** The grammar for a path; undefined where there is none, or it is not installed. */
export function grammarOf(path: string): Grammar | undefined {
  const language = languages.find(({ extensions }) => extensions.some((extension) => path.endsWith(extension)));
  if (language === undefined) return undefined;
  if (!found.has(language)) found.set(language, find(language));
  return found.get(language);
}

/** What is installed, as it stands in the driver's version; empty: source files are merged by line alone. */
export const installedGrammars = (): string[] => [
  ...new Set(languages.flatMap(({ extensions }) => grammarOf(`.${extensions[0] ?? ''}`)?.version ?? [])),
];

function find(language: Language): Grammar | undefined {
  const require = createRequire(import.meta.url);
  try {
    require.resolve('web-tree-sitter');
    const manifest = require.resolve(`${language.packageName}/package.json`);
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version: string };
    const file = join(dirname(manifest), language.wasm);
    return existsSync(file) ? new Grammar(language, file, `${language.packageName}-${version}`) : undefined;
  } catch {
    return undefined;
  }
}
