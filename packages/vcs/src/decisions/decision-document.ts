import { MoundError } from '../core/errors.ts';
import { decisionStatuses, isDecisionId, type Decision, type DecisionStatus } from './decision.ts';
import { Fault, readFrontMatter, renderFrontMatter, type DocumentFault, type Field } from './front-matter.ts';

/** A decision with the lines at which its head says so, for those who find fault with it later. */
export interface ReadDecision extends Decision {
  readonly lines: { readonly id: number; readonly supersedes: number };
}

const names = ['id', 'title', 'topics', 'owner', 'status', 'supersedes'];

export const isDocumentFault = (value: object): value is DocumentFault => 'message' in value && 'line' in value;

function textOf(fields: ReadonlyMap<string, Field>, name: string): { readonly line: number; readonly value: string } {
  const field = fields.get(name);
  if (field === undefined) throw new Fault(1, `the head has no '${name}'`);
  const { line, value } = field;
  if (typeof value !== 'string') throw new Fault(line, `'${name}' is a list, not a text`);
  if (value === '') throw new Fault(line, `'${name}' is empty`);
  return { line, value };
}

function listOf(fields: ReadonlyMap<string, Field>, name: string): { readonly line: number; readonly value: readonly string[] } {
  const field = fields.get(name);
  if (field === undefined) throw new Fault(1, `the head has no '${name}'`);
  const { line, value } = field;
  if (typeof value !== 'string') return { line, value };
  if (value !== '') throw new Fault(line, `'${name}' is a text, not a list like [${value}]`);
  return { line, value: [] };
} // prettier-ignore

function readDecision(source: string): ReadDecision {
  const { fields, text } = readFrontMatter(source);
  for (const [name, { line }] of fields) {
    if (!names.includes(name)) throw new Fault(line, `'${name}' is none of ${names.join(', ')}`);
  }
  const id = textOf(fields, 'id');
  if (!isDecisionId(id.value)) {
    throw new Fault(id.line, `the id '${id.value}' is not letters, digits, '.', '_' and '-' only, at most 64 of them`);
  }
  const status = textOf(fields, 'status');
  if (!decisionStatuses.includes(status.value as DecisionStatus)) {
    throw new Fault(status.line, `the status '${status.value}' is none of ${decisionStatuses.join(', ')}`);
  }
  const supersedes = fields.has('supersedes') ? listOf(fields, 'supersedes') : { line: 1, value: [] };
  const strange = supersedes.value.find((one) => !isDecisionId(one));
  if (strange !== undefined) throw new Fault(supersedes.line, `'${strange}' in supersedes is no id`);
  if (supersedes.value.includes(id.value)) throw new Fault(supersedes.line, 'it supersedes itself');
  return {
    id: id.value,
    title: textOf(fields, 'title').value,
    topics: listOf(fields, 'topics').value,
    owner: textOf(fields, 'owner').value,
    status: status.value as DecisionStatus,
    supersedes: supersedes.value,
    text: text.replace(/^\n+/, '').replace(/\s+$/, ''),
    lines: { id: id.line, supersedes: supersedes.line },
  };
}

/** Reads a design document; where it cannot be read, what is wrong and where. */
export function parseDecision(path: string, source: Uint8Array | string): ReadDecision | DocumentFault {
  try {
    return readDecision(typeof source === 'string' ? source : new TextDecoder('utf-8', { fatal: true }).decode(source));
  } catch (error) {
    if (error instanceof Fault) return { path, line: error.line, message: error.message };
    if (error instanceof TypeError) return { path, line: 1, message: 'it is not UTF-8' };
    throw error;
  }
}

/** A document that `parseDecision` reads as the same. Errors: `invalid-argument` where it could not. */
export function renderDecision(decision: Decision): string {
  const { id, title, topics, owner, status, supersedes, text } = decision;
  const fields = { id, title, topics, owner, status, ...(supersedes.length > 0 && { supersedes }) };
  const document = renderFrontMatter(fields, text);
  const read = parseDecision('decision', document);
  if (isDocumentFault(read)) throw new MoundError('invalid-argument', `decision '${id}': ${read.message}`, { id });
  return document;
}
