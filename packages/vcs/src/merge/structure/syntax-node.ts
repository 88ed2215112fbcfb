/**
 * What is read of a node of a syntax tree, by tree-sitter's own names. Stated
 * here, so that the types of this package need none of an optional one.
 */
export interface SyntaxNode {
  readonly type: string;
  readonly text: string;
  /** In UTF-16 units from the start of the text. */
  readonly startIndex: number;
  readonly endIndex: number;
  readonly children: readonly SyntaxNode[];
  readonly namedChildren: readonly SyntaxNode[];
  childForFieldName(name: string): SyntaxNode | null;
}
