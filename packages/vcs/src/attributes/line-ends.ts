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

/** What git's settings say of line ends beside the attribute files of a tree. */
export interface LineEndSettings {
  /** As `core.autocrlf`. Default: false. */
  readonly autocrlf?: boolean | 'input' | undefined;
  /** As `core.eol`; default: as the platform has it. */
  readonly eol?: 'lf' | 'crlf' | undefined;
  /** An attribute file that says something where those of the tree do not, as `core.attributesFile`. */
  readonly attributesBeneath?: Uint8Array | undefined;
  /** One that counts before those of the tree, as `info/attributes`. */
  readonly attributesAbove?: Uint8Array | undefined;
}

/** Line ends of a file on disk, settings taken in. */
export interface DiskLineEnds extends LineEnds {
  readonly eol: 'lf' | 'crlf';
}

const platformEol = process.platform === 'win32' ? 'crlf' : 'lf';

/** As in git: `core.autocrlf` makes `auto` of what nothing is said of, and counts before `core.eol`. */
export function diskLineEndsOf(attributes: PathAttributes, settings: LineEndSettings): DiskLineEnds {
  const { autocrlf = false, eol: settingsEol = platformEol } = settings;
  const asked = lineEndsOf(attributes);
  const kind = asked.kind === 'unspecified' && autocrlf !== false ? 'auto' : asked.kind;
  const textEol = autocrlf === true ? 'crlf' : autocrlf === 'input' ? 'lf' : settingsEol;
  return { kind, eol: asked.eol ?? textEol };
}

const noLineEnds: LineEnds = { kind: 'unspecified', eol: undefined };

function asText(state: true | false | string | undefined): LineEnds | undefined {
  if (state === true) return { kind: 'text', eol: undefined };
  if (state === false) return { kind: 'binary', eol: undefined };
  if (state === 'auto') return { kind: 'auto', eol: undefined };
  return state === 'input' ? { kind: 'text', eol: 'lf' } : undefined;
}
