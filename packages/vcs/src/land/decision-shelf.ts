import type { RepoPath } from '../core/ids.ts';
import { DecisionSet, designDirectory, designDocument, isDesignPath, type DesignDocument } from '../decisions/index.ts';
import { contentOrNotice } from '../log/purged.ts';
import type { LogReader } from '../log/log-reader.ts';
import type { Version } from '../log/version.ts';
import type { RuledDecisions } from '../rules/rule-set.ts';
import { pathsBelow } from './paths-below.ts';
import type { PreparedEdit } from './prepared.ts';

/** The decisions of branches, their documents read once a version. */
export class DecisionShelf {
  private readonly reader: LogReader;
  private read = new Map<string, DesignDocument>();
  private readonly sets = new Map<number, { readonly key: string; readonly set: DecisionSet }>();

  constructor(reader: LogReader) {
    this.reader = reader;
  }

  /** After a transaction that was rolled back: its seqs are given again. */
  forget(): void {
    this.read = new Map();
    this.sets.clear();
  }

  /** As they stand now, and as they would with these edits; the same where the edits change no document. */
  with(branchId: number, edits: readonly PreparedEdit[]): RuledDecisions {
    const documents = this.documents(branchId);
    const before = this.setOf(branchId, documents);
    const changed = edits.filter(({ path }) => isDesignPath(path));
    if (changed.length === 0) return { before, after: before };
    const after = new Map([...documents.values()].map((document) => [document.path, document]));
    for (const { path, content } of changed) {
      if (content === undefined) after.delete(path);
      else after.set(path, designDocument(path, content));
    }
    return { before, after: new DecisionSet([...after.values()]) };
  }

  private setOf(branchId: number, documents: ReadonlyMap<string, DesignDocument>): DecisionSet {
    const key = [...documents.keys()].join(' ');
    const known = this.sets.get(branchId);
    if (known?.key === key) return known.set;
    const set = new DecisionSet([...documents.values()]);
    this.sets.set(branchId, { key, set });
    return set;
  }

  /** By place of the version that holds it. */
  private documents(branchId: number): Map<string, DesignDocument> {
    const { rewrites } = this.reader.store.counters;
    const documents = new Map<string, DesignDocument>();
    for (const path of pathsBelow(this.reader, designDirectory as RepoPath)) {
      if (!isDesignPath(path)) continue;
      const pathId = this.reader.getPathId(path);
      const head: Version | undefined = pathId === undefined ? undefined : this.reader.heads.get(branchId, pathId);
      if (head?.target === undefined) continue;
      const key = `${head.place.seq}.${head.place.index}.${rewrites}`;
      documents.set(key, this.read.get(key) ?? designDocument(path, contentOrNotice(this.reader, head.place)));
    }
    this.read = documents;
    return documents;
  }
}
