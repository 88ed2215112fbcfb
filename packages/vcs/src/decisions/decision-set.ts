import { hashOfDecision, symbolOf, type Decision, type DecisionStatus } from './decision.ts';
import { isDocumentFault, parseDecision, type ReadDecision } from './decision-document.ts';
import type { DocumentFault } from './front-matter.ts';
import type { Citation } from './reference.ts';

/** A decision as it stands among the others. */
export interface StandingDecision extends Decision {
  /** Superseded where another says so, too. */
  readonly status: DecisionStatus;
  readonly supersededBy: readonly string[];
  readonly path: string;
  readonly hash: string;
  readonly symbol: string;
}

export type ReferenceStanding = 'right' | 'missing' | 'superseded' | 'outdated';

/** A reference and how it stands to the decisions. */
export interface Reference {
  readonly path: string;
  readonly line: number;
  /** The decision's id; where there is none, what the reference names. */
  readonly id: string;
  readonly symbol: string;
  readonly hash?: string;
  readonly standing: ReferenceStanding;
  /** One line: what is wrong and what to do; none where it is right. */
  readonly says?: string;
}

/** A document's content, read or at fault. */
export interface DesignDocument {
  readonly path: string;
  readonly read: ReadDecision | DocumentFault;
}

export const designDocument = (path: string, content: Uint8Array | string): DesignDocument => ({
  path,
  read: parseDecision(path, content),
});

/** All decisions of one tree. Pure: it is made of documents and answers what stands. */
export class DecisionSet {
  /** In byte order of the paths. */
  readonly decisions: readonly StandingDecision[];
  readonly faults: readonly DocumentFault[];
  private readonly bySymbol: ReadonlyMap<string, StandingDecision>;

  constructor(documents: readonly DesignDocument[]) {
    const faults: DocumentFault[] = [];
    const read = new Map<string, ReadDecision & { readonly path: string }>();
    for (const { path, read: one } of documents) {
      if (isDocumentFault(one)) {
        faults.push(one);
        continue;
      }
      const twin = read.get(symbolOf(one.id));
      if (twin === undefined) read.set(symbolOf(one.id), { ...one, path });
      else {
        const what = twin.id === one.id ? `the id '${one.id}'` : `the id '${one.id}', which gives the symbol of '${twin.id}',`;
        faults.push({ path, line: one.lines.id, message: `${what} is taken by ${twin.path}` });
      }
    } // prettier-ignore
    const supersededBy = new Map<string, string[]>();
    for (const { id, status, supersedes, path, lines } of read.values()) {
      for (const other of supersedes) {
        if (!read.has(symbolOf(other))) faults.push({ path, line: lines.supersedes, message: `it supersedes '${other}', which no document holds` });
        else if (status !== 'proposed') supersededBy.set(symbolOf(other), [...(supersededBy.get(symbolOf(other)) ?? []), id]);
      }
    } // prettier-ignore
    for (const one of read.values()) {
      if (isCircular(read, one)) faults.push({ path: one.path, line: one.lines.supersedes, message: `'${one.id}' supersedes itself in a circle` });
    } // prettier-ignore
    this.faults = faults;
    this.decisions = [...read.values()].map((one) => {
      const by = supersededBy.get(symbolOf(one.id)) ?? [];
      const status = by.length > 0 ? 'superseded' : one.status;
      const { lines: _, ...decision } = one;
      return { ...decision, status, supersededBy: by, hash: hashOfDecision(one), symbol: symbolOf(one.id) };
    });
    this.bySymbol = new Map(this.decisions.map((one) => [one.symbol, one]));
  }

  /** By id, or by symbol. */
  get(id: string): StandingDecision | undefined {
    return this.bySymbol.get(id) ?? this.bySymbol.get(symbolOf(id));
  }

  get active(): readonly StandingDecision[] {
    return this.decisions.filter(({ status }) => status === 'active');
  }

  /** How a reference in a file stands. */
  judge(path: string, { line, id: asWritten, symbol, hash }: Citation): Reference {
    const found = this.bySymbol.get(symbol);
    const id = found?.id ?? asWritten ?? symbol;
    const common = { path, line, id, symbol, ...(hash !== undefined && { hash }) };
    if (found === undefined) {
      return { ...common, standing: 'missing', says: `no decision is called '${id}'; see 'mound decisions list'` };
    }
    if (found.status === 'proposed') {
      return { ...common, standing: 'missing', says: `'${id}' is only proposed (${found.path})` };
    }
    if (found.status === 'superseded') {
      const by = found.supersededBy.length > 0 ? `by ${found.supersededBy.join(', ')}; cite that` : `(${found.path}); take it out`;
      return { ...common, standing: 'superseded', says: `'${id}' is superseded ${by}` };
    } // prettier-ignore
    if (hash !== undefined && hash !== found.hash) {
      const says = `'${id}' says something else by now; read ${found.path}, then cite ${id}@${found.hash}`;
      return { ...common, standing: 'outdated', says };
    }
    return { ...common, standing: 'right' };
  }
}

function isCircular(read: ReadonlyMap<string, Decision>, from: Decision): boolean {
  const seen = new Set<string>();
  const open = [...from.supersedes];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const symbol = symbolOf(id);
    if (symbol === symbolOf(from.id)) return true;
    if (seen.has(symbol)) continue;
    seen.add(symbol);
    open.push(...(read.get(symbol)?.supersedes ?? []));
  }
  return false;
}
