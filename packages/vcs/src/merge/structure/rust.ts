import type { SyntaxNode } from './syntax-node.ts';
import type { NodeRole, NodeRoles } from './extract.ts';
import { conditionMark } from './outline.ts';

/** Rust: what counts as a declaration, by the node types of tree-sitter's grammar. */
export const rustRoles: NodeRoles = {
  isLeading: ({ type }) => type === 'attribute_item' || type === 'line_comment' || type === 'block_comment',
  roleOf: (node, before) => {
    // The same name under two conditions is two declarations.
    const conditions = before.filter(({ text }) => text.startsWith('#[cfg')).map(({ text }) => text);
    const role = roleOf(node);
    const condition = conditions.length === 0 ? '' : `${conditionMark}${conditions.join(' ')}`;
    const binds = role.binds ?? (role.kind === 'declaration' ? [role.key] : []);
    return { ...role, key: role.key + condition, binds: binds.map((name) => name + condition) };
  },
};

const fieldOf = (node: SyntaxNode, name: string): string =>
  (node.childForFieldName(name)?.text ?? '').replaceAll(/\s+/g, ' ');
const bodyOf = (node: SyntaxNode): SyntaxNode | undefined => node.childForFieldName('body') ?? undefined;

/** Named ones; those of a tuple are told by their places. */
const membersOf = (node: SyntaxNode): SyntaxNode | undefined => {
  const body = bodyOf(node);
  return body?.type === 'ordered_field_declaration_list' ? undefined : body;
};

function roleOf(node: SyntaxNode): NodeRole {
  const name = fieldOf(node, 'name');
  switch (node.type) {
    case 'use_declaration':
      return {
        kind: 'import',
        key: node.text.replaceAll(/\s+/g, ' '),
        binds: usedIn(node.childForFieldName('argument')),
      };
    case 'extern_crate_declaration':
      return { kind: 'import', key: node.text };
    case 'function_item':
    case 'function_signature_item':
    case 'const_item':
    case 'static_item':
      return { kind: 'declaration', key: `value ${name}` };
    case 'struct_item':
    case 'enum_item':
    case 'union_item':
      return { kind: 'declaration', key: `type ${name}`, body: membersOf(node) };
    case 'field_declaration':
    case 'enum_variant':
      return { kind: 'declaration', key: `member ${name}` };
    case 'type_item':
    case 'associated_type':
      return { kind: 'declaration', key: `type ${name}` };
    case 'trait_item':
      return { kind: 'declaration', key: `type ${name}`, body: bodyOf(node) };
    case 'mod_item':
      return { kind: 'declaration', key: `mod ${name}`, body: bodyOf(node) };
    case 'impl_item': {
      const trait = fieldOf(node, 'trait');
      // Bounds of its parameters do not tell two of one trait for one type apart: both cannot hold.
      const parameters = trait === '' ? fieldOf(node, 'type_parameters') : '';
      const head = `impl${parameters} ${trait === '' ? '' : `${trait} for `}${fieldOf(node, 'type')}`;
      // Of a type there may be many, of a trait for a type one.
      return { kind: 'declaration', key: head, body: bodyOf(node), ...(trait === '' && { binds: [] }) };
    }
    default:
      // A macro's definition counts from where it stands on.
      return { kind: 'statement', key: `statement ${node.text}` };
  }
}

/** The paths that a `use` names, its lists taken apart. */
function usedIn(node: SyntaxNode | null): string[] {
  if (node === null) return [];
  if (node.type === 'scoped_use_list') {
    const path = node.childForFieldName('path')?.text ?? '';
    return usedIn(node.childForFieldName('list')).map((name) => `${path}::${name}`);
  }
  if (node.type === 'use_list') return node.namedChildren.flatMap(usedIn);
  return [node.text.replaceAll(/\s+/g, ' ')];
}
