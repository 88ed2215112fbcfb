import { MoundError } from '../core/errors.ts';
import type { Author, Change, RecordWrite } from '../core/intent.ts';
import { allows, allowsAll, type Grant } from './grant.ts';
import type { Token } from './tokens.ts';

/** Records that say how the repository is run, or what only an import may write. */
const isReserved = (key: string): boolean => key.startsWith('mound/') || key.startsWith('git/');

const isSame = (a: Author, b: Author): boolean =>
  (['name', 'kind', 'email', 'agent', 'role', 'model'] as const).every((field) => a[field] === b[field]);

/** What one request may do. */
export class Access {
  readonly token: Token;

  constructor(token: Token) {
    this.token = token;
  }

  get #grants(): readonly Grant[] {
    return this.token.grants;
  }

  #forbidden(what: string): MoundError {
    return new MoundError('forbidden', `token ${this.token.name} does not allow ${what}`, { token: this.token.name });
  }

  get isAdmin(): boolean {
    return this.#grants.some(({ kind }) => kind === 'admin');
  }

  /** Errors: `forbidden`, as all of these. */
  mustReadAll(): void {
    if (!allowsAll(this.#grants, 'read')) throw this.#forbidden('to read the whole repository');
  }

  mayRead(path: string): boolean {
    return allows(this.#grants, 'read', path);
  }

  mustRead(path: string): void {
    if (!this.mayRead(path)) throw this.#forbidden(`to read ${path}`);
  }

  mustWriteAll(): void {
    if (!allowsAll(this.#grants, 'write')) throw this.#forbidden('to write to the whole repository');
  }

  mustWrite(path: string): void {
    if (!allows(this.#grants, 'write', path)) throw this.#forbidden(`to change ${path}`);
  }

  mustAdminister(): void {
    if (!this.isAdmin) throw this.#forbidden('what needs the grant admin');
  }

  mustLand(changes: readonly Change[] = [], records: readonly RecordWrite[] = []): void {
    for (const change of changes) {
      this.mustWrite(change.path);
      if (change.kind === 'move') this.mustWrite(change.to);
      // A staged object is known by its id alone: whoever names it could read it so.
      if (change.kind === 'put' && change.content === undefined) this.mustReadAll();
    }
    for (const { key } of records) {
      if (isReserved(key)) this.mustAdminister();
      else this.mustWriteAll();
    }
  }

  /** Whose intent it is. Errors: `forbidden` where another is named than the token's. */
  author(named: Author | undefined): Author {
    if (named === undefined) return this.token.author;
    if (isSame(named, this.token.author) || this.#grants.some(({ kind }) => kind === 'as-any')) return named;
    throw this.#forbidden(`to act as ${named.agent ?? named.name}; leave out the author, or ask for the grant as-any`);
  }
}
