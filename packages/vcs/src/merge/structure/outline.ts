/**
 * A source file as the declarations that it is made of. Texts are whole lines and
 * join to the file again; what stands before a declaration (comments, blank lines,
 * decorators, attributes) belongs to it.
 */
export interface Outline {
  readonly items: readonly Item[];
  /** What stands behind the last item. */
  readonly tail: string;
}

/** Stands in a name that is brought in under a condition only, between the name and the condition. */
export const conditionMark = ' where ';

export interface Item {
  /**
   * `import` and `declaration` may stand in any order among themselves; a
   * `statement` does something where it stands.
   */
  readonly kind: 'import' | 'declaration' | 'statement';
  /** Names it among its neighbours: another text under the same key is another version of it. */
  readonly key: string;
  /** Names that it brings in, as they are counted: one more or less of them than both sides ask for is a fault. */
  readonly binds: readonly string[];
  readonly text: string;
  /** Of a class, an impl, a module…: `text` is head, items, tail. */
  readonly inside: (Outline & { readonly head: string }) | undefined;
}

/** Reads a source text; undefined where it is not read without an error, or two declarations share a line. */
export type Outliner = (text: string) => Outline | undefined;
