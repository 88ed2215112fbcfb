import { MoundError } from '../core/errors.ts';
import { isPathFault, parsePath } from '../core/path.ts';

/**
 * What a token's holder may do.
 * - `read`, `write`: with a directory or a file as `prefix` only there. `write` includes `read` of the same.
 * - `admin`: all of it, and policies: landing rules, signals, tokens.
 * - `as-any`: to name any author. Without it the author is the token's.
 */
export type Grant =
  { readonly kind: 'read' | 'write'; readonly prefix: string | undefined } | { readonly kind: 'admin' | 'as-any' };

/** Reads `read`, `write`, `read:PREFIX`, `write:PREFIX`, `admin` or `as-any`. Errors: `invalid-argument`. */
export function parseGrant(text: string): Grant {
  if (text === 'admin' || text === 'as-any') return { kind: text };
  const match = /^(read|write)(?::(.*))?$/s.exec(text);
  if (match === null) {
    const message = `'${text}' is no grant; use read, write, read:PREFIX, write:PREFIX, admin or as-any`;
    throw new MoundError('invalid-argument', message, { found: text });
  }
  const kind = match[1] as 'read' | 'write';
  if (match[2] === undefined) return { kind, prefix: undefined };
  const prefix = parsePath(match[2].replace(/\/$/, ''));
  if (!isPathFault(prefix)) return { kind, prefix };
  throw new MoundError('invalid-argument', `the prefix of '${text}' ${prefix.reason}`, { found: text });
}

export const formatGrant = (grant: Grant): string =>
  'prefix' in grant && grant.prefix !== undefined ? `${grant.kind}:${grant.prefix}` : grant.kind;

const isBelow = (path: string, prefix: string | undefined): boolean =>
  prefix === undefined || path === prefix || path.startsWith(`${prefix}/`);

const isOf = (grant: Grant, kind: 'read' | 'write'): grant is Extract<Grant, { prefix: unknown }> =>
  grant.kind === kind || (kind === 'read' && grant.kind === 'write');

/** Whether grants allow something at a path. */
export const allows = (grants: readonly Grant[], kind: 'read' | 'write', path: string): boolean =>
  grants.some((grant) => grant.kind === 'admin' || (isOf(grant, kind) && isBelow(path, grant.prefix)));

/** The same for everything. */
export const allowsAll = (grants: readonly Grant[], kind: 'read' | 'write'): boolean =>
  grants.some((grant) => grant.kind === 'admin' || (isOf(grant, kind) && grant.prefix === undefined));
