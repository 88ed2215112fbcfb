import type { SyntaxNode } from './syntax-node.ts';
import type { NodeRole, NodeRoles } from './extract.ts';

/** JavaScript, TypeScript, TSX: what counts as a declaration, by the node types of tree-sitter's grammars. */
export const ecmascriptRoles: NodeRoles = {
  isLeading: ({ type }) => type === 'comment' || type === 'decorator' || type === 'hash_bang_line',
  roleOf: (node) => roleOf(node),
};

const nameOf = (node: SyntaxNode): string => node.childForFieldName('name')?.text ?? '';
const bodyOf = (node: SyntaxNode): SyntaxNode | undefined => node.childForFieldName('body') ?? undefined;
const paramsOf = (node: SyntaxNode): string =>
  (node.childForFieldName('parameters')?.text ?? '').replaceAll(/\s+/g, ' ');

const declared = (key: string, body?: SyntaxNode): NodeRole => ({ kind: 'declaration', key, body });
const statement = (node: SyntaxNode): NodeRole => ({ kind: 'statement', key: `statement ${node.text}` });

function roleOf(node: SyntaxNode): NodeRole {
  switch (node.type) {
    case 'import_statement':
      return importRole(node);
    case 'export_statement':
      return exportRole(node);
    case 'ambient_declaration':
      return roleOf(node.namedChildren.find((child) => child.type !== 'comment') ?? node);
    case 'function_declaration':
    case 'generator_function_declaration':
    case 'enum_declaration':
      return declared(`value ${nameOf(node)}`);
    case 'function_signature':
      return declared(`value ${nameOf(node)}${paramsOf(node)}`);
    case 'class_declaration':
    case 'abstract_class_declaration':
      return declared(`value ${nameOf(node)}`, bodyOf(node));
    case 'interface_declaration':
      return declared(`type ${nameOf(node)}`, bodyOf(node));
    case 'type_alias_declaration':
      return declared(`type ${nameOf(node)}`);
    case 'internal_module':
    case 'module':
      return declared(`namespace ${nameOf(node)}`, bodyOf(node));
    case 'lexical_declaration':
    case 'variable_declaration':
      return variablesRole(node);
    case 'method_definition':
    case 'public_field_definition':
    case 'field_definition':
    case 'property_signature':
      return declared(`member ${markOf(node)}${memberNameOf(node)}`);
    case 'method_signature':
    case 'abstract_method_signature':
      return declared(`member ${markOf(node)}${memberNameOf(node)}${paramsOf(node)}`);
    case 'expression_statement':
      return expressionRole(node);
    default:
      return statement(node);
  }
}

const memberNameOf = (node: SyntaxNode): string =>
  nameOf(node) || (node.childForFieldName('property')?.text ?? node.text);

/** What tells two members of one name apart. */
function markOf(node: SyntaxNode): string {
  const marks = node.children.filter(({ type }) => type === 'static' || type === 'get' || type === 'set');
  return marks.map(({ type }) => `${type} `).join('');
}

function importRole(node: SyntaxNode): NodeRole {
  const clause = node.namedChildren.find(({ type }) => type === 'import_clause');
  if (clause === undefined) return statement(node);
  const isType = node.children.some(({ type }) => type === 'type');
  const binds = clause.namedChildren.flatMap((child) => {
    if (child.type === 'identifier') return [child.text];
    if (child.type !== 'named_imports') return child.namedChildren.map(({ text }) => text);
    return specifiedIn(child);
  });
  const source = node.childForFieldName('source')?.text ?? '';
  return {
    kind: 'import',
    key: `import ${isType ? 'type ' : ''}${source}`,
    binds: binds.map((name) => `value ${name}`),
  };
}

function exportRole(node: SyntaxNode): NodeRole {
  const declaration = node.childForFieldName('declaration');
  if (declaration !== null) return roleOf(declaration);
  if (node.childForFieldName('value') !== null) return declared('export default');
  const source = node.childForFieldName('source');
  const clause = node.namedChildren.find(({ type }) => type === 'export_clause');
  const binds = clause === undefined ? [] : specifiedIn(clause).map((name) => `exported ${name}`);
  return { kind: 'import', key: source === null ? 'export {}' : `export ${source.text}`, binds };
}

/** The names that the specifiers of an import or export give what they name. */
const specifiedIn = (list: SyntaxNode): string[] =>
  list.namedChildren
    .filter(({ type }) => type === 'import_specifier' || type === 'export_specifier')
    .map((each) => (each.childForFieldName('alias') ?? each.childForFieldName('name') ?? each).text);

/** What is taken apart (`const { a, b } = require('x')`) is known by what it comes from, since its names change. */
function variablesRole(node: SyntaxNode): NodeRole {
  const declarators = node.namedChildren.filter(({ type }) => type === 'variable_declarator');
  const isTaken = declarators.some((each) => each.childForFieldName('name')?.type !== 'identifier');
  const names = declarators.flatMap((each) => namesIn(each.childForFieldName('name')));
  const sources = declarators.map((each) => each.childForFieldName('value')?.text ?? '');
  return {
    kind: 'declaration',
    key: isTaken ? `from ${sources.join(', ')}` : `value ${names.join(' ')}`,
    binds: names.map((name) => `value ${name}`),
  };
}

/** The names that a pattern declares. */
function namesIn(pattern: SyntaxNode | null): string[] {
  if (pattern === null) return [];
  switch (pattern.type) {
    case 'identifier':
    case 'shorthand_property_identifier_pattern':
      return [pattern.text];
    case 'pair_pattern':
      return namesIn(pattern.childForFieldName('value'));
    case 'assignment_pattern':
    case 'object_assignment_pattern':
      return namesIn(pattern.childForFieldName('left'));
    default:
      return pattern.namedChildren.flatMap(namesIn);
  }
}

const testCall = /^(?:describe|suite|context|it|test)(?:\.\w+)*$/;

/** A test or a group of tests is told by its title, like a declaration; other expressions do something. */
function expressionRole(node: SyntaxNode): NodeRole {
  const [expression] = node.namedChildren;
  if (expression?.type === 'internal_module') return roleOf(expression);
  if (expression?.type !== 'call_expression') return statement(node);
  const callee = expression.childForFieldName('function')?.text ?? '';
  const given = expression.childForFieldName('arguments')?.namedChildren ?? [];
  const [title] = given;
  const last = given.at(-1);
  const isTitled = title?.type === 'string' || title?.type === 'template_string';
  const isFunction = last?.type === 'arrow_function' || last?.type === 'function_expression';
  if (!isTitled || !isFunction || !testCall.test(callee)) return statement(node);
  const body = last === undefined ? undefined : bodyOf(last);
  return declared(`test ${callee} ${title?.text ?? ''}`, body?.type === 'statement_block' ? body : undefined);
}
