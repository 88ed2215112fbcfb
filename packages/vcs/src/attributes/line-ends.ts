import type { PathAttributes } from './attributes.ts';

/** How the line ends of a file are treated between a repo and a directory on disk. */
export interface LineEnds {
  /**
   * `text`: LF in the repo; `auto`: LF where the content looks like text;
   * `binary`: left alone; `unspecified`: nothing says, so left alone as well.
   */
  readonly kind: 'text' | 'auto' | 'binary' | 'unspecified';
  /** On disk; undefined: as the platform has it. */
  readonly eol: 'lf' | 'crlf' | undefined;
}

/**
 * What `text`, `eol` and the older `crlf` say together, as in git: `crlf` counts
 * where `text` is unspecified or has an unknown value, an `eol` makes text of
 * what is not `-text`.
 */
export function lineEndsOf(attributes: PathAttributes): LineEnds {
  const asked = asText(attributes.get('text')) ?? asText(attributes.get('crlf')) ?? noLineEnds;
  if (asked.kind === 'binary') return asked;
  const value = attributes.get('eol');
  const eol = value === 'lf' || value === 'crlf' ? value : undefined;
  if (eol === undefined) return asked;
  return { kind: asked.kind === 'auto' ? 'auto' : 'text', eol };
}

const noLineEnds: LineEnds = { kind: 'unspecified', eol: undefined };

function asText(state: true | false | string | undefined): LineEnds | undefined {
  if (state === true) return { kind: 'text', eol: undefined };
  if (state === false) return { kind: 'binary', eol: undefined };
  if (state === 'auto') return { kind: 'auto', eol: undefined };
  return state === 'input' ? { kind: 'text', eol: 'lf' } : undefined;
}
