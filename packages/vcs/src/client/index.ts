/** Uses a repository that `mound serve` serves; see `docs/spec/server.md`. */
export { runCommand } from './run-command.ts';
export type { ServerPlace } from './connection.ts';
export { RemoteRepo, type RemoteAt, type RemoteFile, type RemoteState } from './remote-repo.ts';
