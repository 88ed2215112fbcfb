import type { RepoPath } from '../core/ids.ts';
import { version, type Change } from '../core/intent.ts';
import {
  checkDecisions,
  citationsOf,
  DecisionSet,
  designDirectory,
  designDocument,
  generatedSymbol,
  generateSymbols,
  isDesignPath,
  isGenerated,
  symbolLanguageOf,
  type DecisionReport,
  type Reference,
  type TreeFile,
} from '../decisions/index.ts';
import { pathIdOfReference, referenceKey } from '../format/keys.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Snapshot } from './api.ts';

/** The decisions of one snapshot and what cites them, by way of the index. */
export class DecisionViews {
  private readonly reader: LogReader;
  private readonly snapshot: Snapshot;

  constructor(reader: LogReader, snapshot: Snapshot) {
    this.reader = reader;
    this.snapshot = snapshot;
  }

  set(): DecisionSet {
    return new DecisionSet(this.documents().map(({ path, content }) => designDocument(path, content)));
  }

  report(): DecisionReport {
    return checkDecisions(this.documents(), this.files(this.paths()));
  }

  /** Generated files as they are to be once changes of design documents have landed; those that are so already are left out. */
  symbolChanges(changes: readonly Change[]): Change[] {
    const documents = new Map(this.documents().map((file) => [file.path, file]));
    for (const change of changes) {
      if (!isDesignPath(change.path)) continue;
      if (change.kind === 'delete') documents.delete(change.path);
      if (change.kind !== 'put' || change.content === undefined) continue;
      documents.set(change.path, { path: change.path, content: Buffer.from(change.content as string) });
    }
    const set = new DecisionSet([...documents.values()].map(({ path, content }) => designDocument(path, content)));
    return [...this.files(this.paths(generatedSymbol))].flatMap(({ path, content }): Change[] => {
      const head = this.snapshot.head(path);
      if (head === undefined || !isGenerated(content) || symbolLanguageOf(path) === undefined) return [];
      const text = generateSymbols(path, set.decisions);
      return text === content.toString('utf8')
        ? []
        : [{ kind: 'put', path, content: text, expect: version(head.version) }];
    });
  }

  references(symbol: string | undefined, path: string | undefined): Reference[] {
    const set = this.set();
    const files = path === undefined ? this.files(this.paths(symbol)) : this.files([path]);
    const references: Reference[] = [];
    for (const file of files) {
      for (const citation of citationsOf(file.content)) {
        if (symbol === undefined || citation.symbol === symbol) references.push(set.judge(file.path, citation));
      }
    }
    return references;
  }

  private documents(): TreeFile[] {
    const paths = this.snapshot.list(designDirectory).map(({ path }) => path);
    return [...this.files(paths.filter((path) => isDesignPath(path)))];
  }

  private *files(paths: Iterable<string>): Generator<TreeFile> {
    for (const path of paths) {
      const content = this.snapshot.read(path);
      if (content !== undefined) yield { path, content };
    }
  }

  /** Paths that cite a symbol, or any, in some version: more than do by now, never fewer; in byte order. */
  private paths(symbol?: string): RepoPath[] {
    const start = symbol === undefined ? Buffer.of(1) : referenceKey(symbol, 0);
    const end = symbol === undefined ? Buffer.of(255) : referenceKey(symbol, 0xffffffff);
    const ids = new Set<number>();
    const { references } = this.reader.store.tables;
    for (const key of references.getKeys({ start, end })) ids.add(pathIdOfReference(key));
    return [...ids].map((id) => this.reader.pathOf(id)).toSorted((a, b) => (a < b ? -1 : 1));
  }
}
