import type { CommitOperation, FileMode, InitialFiles } from '../../workloads/operation.ts';

const octals: Readonly<Record<FileMode, string>> = { file: '100644', executable: '100755', symlink: '120000' };

export const gitModeOf = (mode: FileMode = 'file'): string => octals[mode];

/** git has one message where Mound has message, rationale and operation id: the same bytes in one text. */
export const commitText = (operation: CommitOperation): string =>
  `${operation.message}\n\n${operation.rationale}\n\nOperation: ${operation.id}\n`;

/** The operation ids in the output of `git log --format=%B`. */
export const operationIdsIn = (log: string): string[] =>
  [...log.matchAll(/^Operation: (.+)$/gm)].map(([, id = '']) => id);

const identityOf = (agent: string): string => `${agent} <${agent}@mound.invalid>`;

/** fast-import and `update-index --index-info` take C-style quoting for the odd path. */
export const quotedPath = (path: string): string =>
  /["\\\n\t]/.test(path)
    ? `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`
    : path;

const dataOf = (bytes: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.from(`data ${Buffer.byteLength(bytes)}\n`), Buffer.from(bytes), Buffer.from('\n')]);

/** One commit in fast-import's language. `from` names the parent where fast-import does not know it yet. */
export function fastImportCommit(operation: CommitOperation, from?: string): Buffer {
  const time = Math.floor(Date.now() / 1000);
  const parts = [
    Buffer.from(`commit refs/heads/main\ncommitter ${identityOf(operation.agent)} ${time} +0000\n`),
    dataOf(commitText(operation)),
  ];
  if (from !== undefined) parts.push(Buffer.from(`from ${from}\n`));
  for (const { path, content, mode } of operation.changes) {
    if (content === null) parts.push(Buffer.from(`D ${quotedPath(path)}\n`));
    else parts.push(Buffer.from(`M ${gitModeOf(mode)} inline ${quotedPath(path)}\n`), dataOf(content));
  }
  return Buffer.concat(parts);
}

/** The initial files as the first commit. */
export function fastImportSeed(files: InitialFiles): Buffer {
  const changes = [...files].map(([path, content]) => ({ path, content }));
  return fastImportCommit({ id: 'seed', agent: 'bench', message: 'Initial files', rationale: '', changes });
}
