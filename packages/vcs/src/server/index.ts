/** Serves a repository over HTTP; see `docs/spec/server.md`. */
export { formatGrant, parseGrant, type Grant } from './grant.ts';
export {
  accessFileOf,
  readServerAccess,
  serveRepo,
  type ServeOptions,
  type Server,
  type ServerAccess,
} from './serve.ts';
export { listTokens, newSecret, tokenPrefix, tokenRecord, withoutToken, type Token } from './tokens.ts';
