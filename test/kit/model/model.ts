import type { Change, Intent, Precondition } from '@mound/vcs';

/** The store as plain maps: what each path and record was at each seq, on each branch. */
export interface File {
  readonly text: string;
  readonly mode: string;
}

interface Version<T> {
  readonly seq: number;
  /** undefined: absent. */
  readonly value: T | undefined;
}

interface Branch {
  readonly parent: string | undefined;
  readonly forkSeq: number;
  readonly versions: Map<string, Version<File>[]>;
}

interface Edit {
  readonly path: string;
  readonly target: File | undefined;
  readonly expect: Precondition;
  readonly movedFrom?: string;
}

/** `until`: when it ends by itself; Infinity: it does not. */
export interface Freeze {
  readonly owner: string | undefined;
  readonly until: number;
}

export type Verdict =
  | { readonly kind: 'landed'; readonly edits: readonly Edit[] }
  | { readonly kind: 'parked'; readonly paths: readonly string[] }
  | { readonly kind: 'unchanged' | 'stale' }
  | { readonly kind: 'rejected'; readonly code: string };

const isSame = (a: File | undefined, b: File | undefined): boolean => a?.text === b?.text && a?.mode === b?.mode;
const rejected = (code: string): Verdict => ({ kind: 'rejected', code });

export class Model {
  seq = 0;
  readonly branches = new Map<string, Branch>([['main', { parent: undefined, forkSeq: 0, versions: new Map() }]]);
  readonly records = new Map<string, Version<string>[]>();
  /** By branch and path. */
  readonly frozen = new Map<string, Freeze>();
  /** Seqs of splits, by branch and path. */
  readonly splits = new Map<string, number[]>();
  readonly tags = new Map<string, number>();
  /** Parked intents that wait, oldest first. */
  parked: { readonly intent: Intent; readonly paths: readonly string[] }[] = [];

  private branch(name: string): Branch {
    const branch = this.branches.get(name);
    if (branch === undefined) throw new Error(`the model has no branch ${name}`);
    return branch;
  }

  at(branch: string, path: string, seq: number): Version<File> {
    const { parent, forkSeq, versions } = this.branch(branch);
    const own = versions.get(path)?.findLast((version) => version.seq <= seq);
    if (own !== undefined) return own;
    return parent === undefined ? { seq: 0, value: undefined } : this.at(parent, path, Math.min(seq, forkSeq));
  }

  recordAt(key: string, seq: number): Version<string> {
    return this.records.get(key)?.findLast((version) => version.seq <= seq) ?? { seq: 0, value: undefined };
  }

  private holds(branch: string, { path, expect }: Edit): boolean {
    const head = this.at(branch, path, this.seq);
    if (expect.kind === 'any') return true;
    if (expect.kind === 'absent') return head.value === undefined;
    return head.seq <= expect.seq || isSame(this.at(branch, path, expect.seq).value, head.value);
  }

  private standing(branch: string, edit: Edit): 'done' | 'holds' | 'stale' {
    if (isSame(edit.target, this.at(branch, edit.path, this.seq).value)) return 'done';
    const source = edit.movedFrom;
    if (source !== undefined && this.at(branch, source, this.seq).value === undefined) return 'stale';
    return this.holds(branch, edit) ? 'holds' : 'stale';
  }

  /** What the author of a change had before its eyes. */
  private base(branch: string, path: string, expect: Precondition): File | undefined {
    if (expect.kind === 'absent') return undefined;
    return this.at(branch, path, expect.kind === 'any' ? this.seq : expect.seq).value;
  }

  private editsOf(branch: string, change: Change): readonly Edit[] | Verdict {
    const { path, expect } = change;
    if (expect.kind === 'version' && expect.seq > this.seq) return rejected('no-such-version');
    const base = this.base(branch, path, expect);
    if (change.kind === 'delete') return [{ path, target: undefined, expect }];
    if (change.kind === 'chmod') {
      return base === undefined ? rejected('no-such-path') : [{ path, target: { ...base, mode: change.mode }, expect }];
    }
    if (change.kind === 'move') {
      if (base === undefined) return rejected('no-such-path');
      if (change.expectTo?.kind === 'version' && change.expectTo.seq > this.seq) return rejected('no-such-version');
      const to = { path: change.to, target: base, expect: change.expectTo ?? ({ kind: 'absent' } as const) };
      return [
        { path, target: undefined, expect },
        { ...to, movedFrom: path },
      ];
    }
    if (expect.kind === 'version' && expect.seq > 0 && base === undefined) return rejected('no-such-path');
    // The mode of what is there stands where the author had seen nothing.
    const mode = change.mode ?? (base ?? this.at(branch, path, this.seq).value)?.mode ?? 'file';
    return [{ path, target: { text: String(change.content), mode }, expect }];
  }

  private isFrozenFor({ branch = 'main', author }: Intent, path: string, split: string | undefined): boolean {
    const freeze = this.frozen.get(`${branch} ${path}`);
    if (freeze === undefined) return false;
    return freeze.owner === undefined ? path !== split : freeze.owner !== author.agent;
  }

  /** What an intent comes to now; changes nothing. `split`: the path that it splits. */
  decide(intent: Intent, split?: string): Verdict {
    const { branch = 'main', changes = [], records = [], onStale } = intent;
    const isMalformed = changes.some(({ kind, expect }) => kind === 'move' && expect.kind === 'absent');
    if (isMalformed) return rejected('invalid-intent');
    const early = records.some(({ expect }) => expect.kind === 'version' && expect.seq > this.seq);
    if (early) return rejected('no-such-version');
    const edits: Edit[] = [];
    for (const change of changes) {
      const made = this.editsOf(branch, change);
      if ('kind' in made) return made;
      edits.push(...made);
    }
    for (const { key, expect } of records) {
      const { seq, value } = this.recordAt(key, this.seq);
      const isTrue =
        expect.kind === 'any' ||
        (expect.kind === 'absent' ? value === undefined : value !== undefined && seq <= expect.seq);
      if (!isTrue) return rejected('record-stale');
    }
    const effective = edits.filter((edit) => this.standing(branch, edit) !== 'done');
    const frozen = effective.map(({ path }) => path).filter((path) => this.isFrozenFor(intent, path, split));
    if (frozen.length > 0) return { kind: 'parked', paths: frozen };
    const isStale = (edit: Edit): boolean =>
      this.standing(branch, edit) === 'stale' || (onStale === 'reject' && !this.holds(branch, edit));
    if (edits.some(isStale)) return onStale === 'reject' ? rejected('stale') : { kind: 'stale' };
    if (effective.length + records.length === 0) return { kind: 'unchanged' };
    return { kind: 'landed', edits: effective };
  }

  land({ branch = 'main', records = [] }: Intent, edits: readonly Edit[]): void {
    this.seq++;
    const { versions } = this.branch(branch);
    for (const { path, target } of edits) {
      versions.set(path, [...(versions.get(path) ?? []), { seq: this.seq, value: target }]);
    }
    for (const { key, value } of records) {
      const version = { seq: this.seq, value: value === null ? undefined : String(value) };
      this.records.set(key, [...(this.records.get(key) ?? []), version]);
    }
  }

  /** After the landing that split a path. */
  split(branch: string, path: string): void {
    const key = `${branch} ${path}`;
    this.splits.set(key, [...(this.splits.get(key) ?? []), this.seq]);
    if (this.frozen.delete(key)) this.seq++;
  }

  splitsOf(branch: string, path: string, upTo: number): number[] {
    const { parent, forkSeq } = this.branch(branch);
    const before = parent === undefined ? [] : this.splitsOf(parent, path, Math.min(upTo, forkSeq));
    return [...before, ...(this.splits.get(`${branch} ${path}`) ?? []).filter((seq) => seq <= upTo)];
  }

  expire(now: number): void {
    for (const [key, { until }] of this.frozen) {
      if (until > now) continue;
      this.frozen.delete(key);
      this.seq++;
    }
  }

  fork(name: string, parent: string, forkSeq: number): void {
    this.seq++;
    this.branches.set(name, { parent, forkSeq, versions: new Map() });
  }

  /** The intent that merging a branch back is. */
  mergeOf(name: string): Intent {
    const { parent = 'main', forkSeq, versions } = this.branch(name);
    const changes = [...versions.keys()].flatMap((path): Change[] => {
      const now = this.at(name, path, this.seq).value;
      const then = this.at(parent, path, forkSeq).value;
      const expect: Precondition = then === undefined ? { kind: 'absent' } : { kind: 'version', seq: forkSeq };
      if (now !== undefined) return [{ kind: 'put', path, content: now.text, mode: now.mode as 'file', expect }];
      return then === undefined ? [] : [{ kind: 'delete', path, expect }];
    });
    const records = [{ key: `mound/merged/${parent}/${name}`, expect: { kind: 'absent' } as const, value: '' }];
    return { branch: parent, author: { name: 'm', kind: 'agent' }, message: 'm', changes, records };
  }
}
