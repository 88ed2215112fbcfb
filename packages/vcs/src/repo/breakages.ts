import { isMoundError } from '../core/errors.ts';
import type { RepoPath } from '../core/ids.ts';
import {
  breakageOf,
  changedSymbols,
  explainBy,
  readDiagnostics,
  weightOf,
  type BrokenFile,
  type LineStretch,
  type SourceLine,
} from '../breakage/index.ts';
import type { BranchRow } from '../format/branch.ts';
import type { ChangeRow, LandingEntry, Place } from '../format/entry.ts';
import { breakageKey } from '../format/keys.ts';
import type { LogReader } from '../log/log-reader.ts';
import { changedLines, isText, splitLines } from '../merge/index.ts';
import type { Snapshot } from './api.ts';
import type { BreakageView, ExplainedBreakage, Explanation } from './decision-api.ts';

/** Newest breakages that are looked at for what a build says. */
const explainedMax = 200;
/** Larger files are compared by nobody who waits for an answer. */
const fileBytesMax = 1024 * 1024;

/** The breakages of a branch as of a seq, newest first. */
export class Breakages {
  private readonly reader: LogReader;
  private readonly branch: BranchRow;
  private readonly seq: number;

  constructor(reader: LogReader, branch: BranchRow, seq: number) {
    this.reader = reader;
    this.branch = branch;
    this.seq = seq;
  }

  list(limit = Number.POSITIVE_INFINITY): BreakageView[] {
    const views: BreakageView[] = [];
    for (const entry of this.entries()) {
      if (views.length >= limit) break;
      views.push(this.view(entry));
    }
    return views;
  }

  explain(output: string, sourceLine: SourceLine): Explanation {
    const diagnostics = readDiagnostics(output);
    if (diagnostics.length === 0) return { diagnostics, breakages: [] };
    const found: ExplainedBreakage[] = [];
    let looked = 0;
    for (const entry of this.entries()) {
      if (looked++ >= explainedMax) break;
      const matches = explainBy(diagnostics, this.brokenFiles(entry), sourceLine);
      if (matches.length === 0) continue;
      const symbols = [...new Set(matches.flatMap((match) => match.symbols))];
      const places = matches.map(({ diagnostic: { path, line, column, code, message, tool }, by }) => {
        const more = { ...(column !== undefined && { column }), ...(code !== undefined && { code }) };
        return { path, line, ...more, tool, message, by };
      });
      found.push({ ...this.view(entry), symbols, matches: places, weight: weightOf(matches) });
    }
    return { diagnostics, breakages: found.toSorted((a, b) => b.weight - a.weight || b.seq - a.seq) };
  }

  /** Of the branch, and of those that it was forked from up to there. */
  private *entries(): Generator<LandingEntry> {
    const { breakages } = this.reader.store.tables;
    let { branch } = this;
    let last = this.seq;
    for (;;) {
      const range = { start: breakageKey(branch.id, last + 1), end: breakageKey(branch.id, 0), reverse: true };
      for (const key of breakages.getKeys(range)) {
        const seq = Buffer.from(key.buffer, key.byteOffset, key.length).readUIntBE(4, 6);
        if (seq <= last) yield this.reader.landing(seq);
      }
      if (branch.parentId < 0) return;
      last = Math.min(last, branch.forkSeq);
      branch = this.reader.branch(branch.parentId);
    }
  }

  private view({ seq, time, authorId, breakage = '', task, message, changes }: LandingEntry): BreakageView {
    const stated = breakageOf(breakage, this.reader.author(authorId), task);
    return { ...stated, seq, time, message, paths: changes.map(({ pathId }) => this.reader.pathOf(pathId)) };
  }

  private brokenFiles({ seq, changes }: LandingEntry): BrokenFile[] {
    return changes.map((row, index) => this.brokenFile(this.reader.pathOf(row.pathId), row, { seq, index }));
  }

  private brokenFile(path: RepoPath, row: ChangeRow, place: Place): BrokenFile {
    const before = this.linesAt(row.previous, row.depth > 0);
    const after = this.linesAt(place, row.blob !== undefined);
    const changed = changedLines(before, after);
    const ranges: LineStretch[] = changed.map(({ sideStart, sideCount }) => ({ start: sideStart, count: sideCount }));
    const was = changedSymbols(
      before,
      changed.map(({ baseStart, baseCount }) => ({ start: baseStart, count: baseCount })),
    );
    const is = changedSymbols(after, ranges);
    const declared = new Set([...was.declared, ...is.declared]);
    const members = new Set([...was.members, ...is.members]);
    return { path, ranges, declared, members };
  }

  private linesAt(place: Place, isThere: boolean): string[] {
    if (!isThere || place.seq === 0) return [];
    try {
      const content = this.reader.content(place);
      const isRead = content.length <= fileBytesMax && isText({ content, mode: 'file' });
      return isRead ? splitLines(content) : [];
    } catch (error) {
      if (isMoundError(error, 'purged')) return [];
      throw error;
    }
  }
}

/** Lines of a snapshot's files; a place that a tool printed from below the root is not found. */
export function sourceLinesOf(snapshot: Snapshot): SourceLine {
  const files = new Map<string, readonly string[]>();
  return (path, line) => {
    let lines = files.get(path);
    if (lines === undefined) {
      lines = snapshot.readText(path)?.split(/\r?\n/) ?? [];
      files.set(path, lines);
    }
    return lines[line - 1];
  };
}
