import type { Mode } from '../core/mode.ts';
import { changedLines, isText, joinLines, splitLines, type LineChange } from '../merge/index.ts';

/** Lines shown around a change. */
const contextCount = 3;

const gitModes: Readonly<Record<Mode, string>> = {
  file: '100644',
  executable: '100755',
  symlink: '120000',
  gitlink: '160000',
};

export interface DiffSide {
  readonly content: Uint8Array;
  readonly mode: Mode;
}

/** Names that git writes in quotes: with bytes that a terminal or a parser could take for something else. */
function quoted(name: string): string {
  // oxlint-disable-next-line no-control-regex
  if (!/[\u0000-\u001f"\\\u007f]/.test(name)) return name;
  // oxlint-disable-next-line no-control-regex
  const escaped = name.replace(/[\u0000-\u001f"\\\u007f]/g, (char) =>
    char === '"' || char === '\\' ? `\\${char}` : `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`,
  );
  return `"${escaped}"`;
}

/**
 * One file's difference in git's format, such that `git apply` takes it; null is
 * a side where the file is not. Bytes, because a text need not be UTF-8.
 */
export function unifiedDiff(path: string, before: DiffSide | null, after: DiffSide | null): Buffer {
  const [a, b] = [quoted(`a/${path}`), quoted(`b/${path}`)];
  const head = [`diff --git ${a} ${b}`];
  if (before === null && after !== null) head.push(`new file mode ${gitModes[after.mode]}`);
  if (after === null && before !== null) head.push(`deleted file mode ${gitModes[before.mode]}`);
  if (before && after && before.mode !== after.mode) {
    head.push(`old mode ${gitModes[before.mode]}`, `new mode ${gitModes[after.mode]}`);
  }
  const headText = `${head.join('\n')}\n`;
  const sides = [before, after].map((side) => side?.content ?? new Uint8Array(0));
  const [was, is] = sides.map((content) => Buffer.from(content)) as [Buffer, Buffer];
  if (was.equals(is)) return Buffer.from(headText);
  const isTextual = [before, after].every((side) => side === null || side.mode === 'symlink' || isText(side));
  if (!isTextual)
    return Buffer.from(`${headText}Binary files ${before ? a : '/dev/null'} and ${after ? b : '/dev/null'} differ\n`);
  const [oldLines, newLines] = [splitLines(was), splitLines(is)];
  const parts: Buffer[] = [Buffer.from(`${headText}--- ${before ? a : '/dev/null'}\n+++ ${after ? b : '/dev/null'}\n`)];
  for (const hunk of hunksOf(changedLines(oldLines, newLines), oldLines.length)) {
    parts.push(renderHunk(hunk, oldLines, newLines));
  }
  return Buffer.concat(parts);
}

/** Changes that are near enough to share their context. */
function hunksOf(changes: readonly LineChange[], count: number): LineChange[][] {
  const hunks: LineChange[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const change of changes) {
    if (change.baseStart - end <= contextCount * 2) hunks.at(-1)?.push(change);
    else hunks.push([change]);
    end = Math.min(count, change.baseStart + change.baseCount);
  }
  return hunks;
}

function renderHunk(changes: readonly LineChange[], before: readonly string[], after: readonly string[]): Buffer {
  const [first, last] = [changes[0], changes.at(-1)];
  if (first === undefined || last === undefined) return Buffer.alloc(0);
  const lead = Math.min(contextCount, first.baseStart);
  const start = first.baseStart - lead;
  const lastEnd = last.baseStart + last.baseCount;
  const end = Math.min(before.length, lastEnd + contextCount);
  const sideStart = first.sideStart - lead;
  const sideEnd = last.sideStart + last.sideCount + (end - lastEnd);
  const lines: string[] = [];
  const add = (sign: string, line: string): void => {
    lines.push(line.endsWith('\n') ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`);
  };
  let at = start;
  for (const change of changes) {
    for (; at < change.baseStart; at++) add(' ', before[at] ?? '');
    for (; at < change.baseStart + change.baseCount; at++) add('-', before[at] ?? '');
    for (let side = change.sideStart; side < change.sideStart + change.sideCount; side++) add('+', after[side] ?? '');
  }
  for (; at < end; at++) add(' ', before[at] ?? '');
  const range = (from: number, count: number): string => `${count === 0 ? from : from + 1},${count}`;
  const head = `@@ -${range(start, end - start)} +${range(sideStart, sideEnd - sideStart)} @@\n`;
  return Buffer.concat([Buffer.from(head), Buffer.from(joinLines(lines))]);
}
