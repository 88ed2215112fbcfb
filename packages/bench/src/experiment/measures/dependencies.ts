import { dependencyNames, isListed, ownNames } from '../../audit/index.ts';
import type { TreeText } from './tree-text.ts';

export interface Violation {
  readonly path: string;
  readonly dependency: string;
}

/** What a tree depends on that is not allowed, each once a file; what belongs to the tree itself is allowed. */
export function violationsOf(tree: TreeText, allow: readonly string[]): Violation[] {
  const own = ownNames(tree);
  return [...tree].flatMap(([path, text]) =>
    dependencyNames(path, text)
      .filter((dependency) => !own.has(dependency) && !isListed(dependency, allow))
      .map((dependency) => ({ path, dependency })),
  );
}
