import { randomBytes } from 'node:crypto';
import { isMoundError, MoundError } from '../core/errors.ts';
import type { Author, Precondition, RecordWrite } from '../core/intent.ts';
import { digest } from '../format/hash.ts';
import type { Repo } from '../repo/api.ts';
import { authorFromJson, listOf, parseJson, textOf, fieldsOf, countOf, optional, WireFault } from '../wire/index.ts';
import { formatGrant, parseGrant, type Grant } from './grant.ts';

/** Who may use a server, and as whom. It is data of the repository: every server of it knows the same. */
export interface Token {
  readonly name: string;
  /** Whose intents those of its holder are. */
  readonly author: Author;
  readonly grants: readonly Grant[];
  /** Milliseconds since 1970 from which on it is refused; undefined: never. */
  readonly expires: number | undefined;
}

export const tokenPrefix = 'mound/tokens/';
const secretMark = 'mound_';
const nameForm = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** A new secret: 256 bits, which no one guesses, so that its plain digest may lie in the open. */
export const newSecret = (): string => secretMark + randomBytes(32).toString('base64url');

const digestOf = (secret: string): string => digest(Buffer.from(secret)).toString('hex');

function checkName(name: string): void {
  if (nameForm.test(name)) return;
  const message = `'${name}' is no name of a token; use letters, digits, '.', '_' and '-', 64 at most`;
  throw new MoundError('invalid-argument', message, { name });
}

/** What an intent writes to add a token. Only its digest is kept. Errors: `invalid-argument`. */
export function tokenRecord(token: Token, secret: string, expect: Precondition): RecordWrite {
  checkName(token.name);
  const { author, grants, expires } = token;
  if (grants.length === 0) throw new MoundError('invalid-argument', `token ${token.name} would allow nothing`);
  const value = JSON.stringify({ digest: digestOf(secret), author, grants: grants.map(formatGrant), expires });
  return { key: tokenPrefix + token.name, expect, value };
}

/** The same to take it away. */
export const withoutToken = (name: string, expect: Precondition): RecordWrite => ({
  key: tokenPrefix + name,
  expect,
  value: null,
});

interface KnownToken extends Token {
  readonly digest: string;
}

function decode(name: string, value: Buffer): KnownToken {
  const fields = fieldsOf(parseJson(value.toString('utf8')), 'it', ['digest', 'author', 'grants', 'expires']);
  return {
    name,
    digest: textOf(fields['digest'], 'the digest'),
    author: authorFromJson(fields['author']),
    grants: listOf(fields['grants'], 'the grants').map((grant) => parseGrant(textOf(grant, 'a grant'))),
    expires: optional('expires', fields['expires'], countOf).expires,
  };
}

/** A record that cannot be read lets nobody in, and keeps nobody else out. */
function tokensOf(repo: Pick<Repo, 'snapshot'>): KnownToken[] {
  return repo
    .snapshot()
    .records(tokenPrefix)
    .flatMap(({ key, value }) => {
      try {
        return [decode(key.slice(tokenPrefix.length), value)];
      } catch (error) {
        if (error instanceof WireFault || isMoundError(error, 'invalid-argument')) return [];
        throw error;
      }
    });
}

/** The repository's tokens, by name, without what would let anyone in. */
export const listTokens = (repo: Pick<Repo, 'snapshot'>): Token[] =>
  tokensOf(repo).map(({ digest: _digest, ...token }) => token);

/** How long a token that was taken away is still good. */
const knownMs = 1000;

/** The tokens that a server knows. */
export class Doorkeeper {
  readonly #repo: Pick<Repo, 'snapshot'>;
  readonly #owner: KnownToken;
  #known = new Map<string, KnownToken>();
  #readAt = -Infinity;

  /** `ownerSecret` opens everything for as long as this server runs. */
  constructor(repo: Pick<Repo, 'snapshot'>, ownerSecret: string, owner: Author) {
    this.#repo = repo;
    const grants: readonly Grant[] = [{ kind: 'admin' }, { kind: 'as-any' }];
    this.#owner = { name: 'owner', digest: digestOf(ownerSecret), author: owner, grants, expires: undefined };
  }

  /** Whose a secret is. Errors: `not-authorised`. */
  admit(secret: string | undefined): Token {
    if (secret === undefined) throw new MoundError('not-authorised', "no token was sent; use 'Authorization: Bearer'");
    const digested = digestOf(secret);
    if (digested === this.#owner.digest) return this.#owner;
    if (performance.now() - this.#readAt > knownMs || !this.#known.has(digested)) this.#read();
    const token = this.#known.get(digested);
    if (token === undefined) throw new MoundError('not-authorised', 'this token is not known here (any more)');
    if (token.expires === undefined || token.expires > Date.now()) return token;
    throw new MoundError(
      'not-authorised',
      `token ${token.name} is over since ${new Date(token.expires).toISOString()}`,
    );
  }

  #read(): void {
    this.#known = new Map(tokensOf(this.#repo).map((token) => [token.digest, token]));
    this.#readAt = performance.now();
  }
}
