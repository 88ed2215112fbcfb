import type { SyntaxNode } from './syntax-node.ts';
import type { Item, Outline } from './outline.ts';

/** What a node is to the outline; `body` holds items of its own. */
export interface NodeRole {
  readonly kind: Item['kind'];
  readonly key: string;
  /** Default: of a declaration its key, of another none. */
  readonly binds?: readonly string[];
  readonly body?: SyntaxNode | undefined;
}

/** What a language says of the nodes of its grammar. */
export interface NodeRoles {
  /** The role of a node; `before` are the nodes that belong to it and stand before it. */
  roleOf(node: SyntaxNode, before: readonly SyntaxNode[]): NodeRole;
  /** A comment, decorator or attribute: it belongs to the node that follows. */
  isLeading(node: SyntaxNode): boolean;
}

/** Outlines the children of a node that stand in `text` from `from` up to `to`; undefined where two share a line. */
export function extract(
  roles: NodeRoles,
  text: string,
  node: SyntaxNode,
  from: number,
  to: number,
): Outline | undefined {
  const items: Item[] = [];
  const seen = new Map<string, number>();
  let before: SyntaxNode[] = [];
  let at = from;
  for (const child of node.namedChildren) {
    if (roles.isLeading(child)) {
      before.push(child);
      continue;
    }
    const isFirstOnLine = /^\s*$/.test(text.slice(Math.max(at, text.lastIndexOf('\n', child.startIndex - 1) + 1), child.startIndex)); // prettier-ignore
    const isAlone = child.startIndex >= at && (isFirstOnLine || before.some((each) => each.endIndex > text.lastIndexOf('\n', child.startIndex - 1))); // prettier-ignore
    if (!isAlone) return undefined;
    const lineEnd = text.indexOf('\n', Math.max(child.endIndex - 1, 0));
    const end = Math.min(lineEnd < 0 ? to : lineEnd + 1, to);
    const role = roles.roleOf(child, before);
    const count = (seen.get(role.key) ?? 0) + 1;
    seen.set(role.key, count);
    // Statements have no names: equal ones are told apart by their order.
    const key = role.kind === 'statement' && count > 1 ? `${role.key}#${count}` : role.key;
    items.push({
      kind: role.kind,
      key,
      binds: role.binds ?? (role.kind === 'declaration' ? [role.key] : []),
      text: text.slice(at, end),
      inside: insideOf(roles, text, role.body, at, end),
    });
    at = end;
    before = [];
  }
  return { items, tail: text.slice(at, to) };
}

/** The items of a body whose braces end and begin a line; of another one undefined. */
function insideOf(
  roles: NodeRoles,
  text: string,
  body: SyntaxNode | undefined,
  start: number,
  end: number,
): Item['inside'] {
  if (body === undefined) return undefined;
  const from = text.indexOf('\n', body.startIndex) + 1;
  const to = text.lastIndexOf('\n', body.endIndex - 1) + 1;
  const isOpen = text.slice(body.startIndex + 1, from).trim() === '' && text.slice(to, body.endIndex - 1).trim() === '';
  if (from === 0 || to < from || !isOpen) return undefined;
  const outline = extract(roles, text, body, from, to);
  if (outline === undefined) return undefined;
  return { head: text.slice(start, from), items: outline.items, tail: outline.tail + text.slice(to, end) };
}
