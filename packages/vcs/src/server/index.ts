/** Serves a repository over HTTP; see `docs/spec/server.md`. */
export { accessFileOf, readServerAccess, type ServerAccess } from './access-file.ts';
export type { CommandFrame, ServedCommand } from './commanding.ts';
export { formatGrant, parseGrant, type Grant } from './grant.ts';
export { serveRepo, type ServeOptions, type Server } from './serve.ts';
export { listTokens, newSecret, tokenPrefix, tokenRecord, withoutToken, type Token } from './tokens.ts';
