import type { JsonArray, JsonNode, JsonObject } from './parse.ts';

/** What a merged value is written from. */
export type Written =
  | { readonly from: 'current' | 'incoming'; readonly node: JsonNode }
  | {
      readonly from: 'children';
      /** Of current; its brackets and spacing stay. */
      readonly node: JsonObject | JsonArray;
      readonly other: JsonObject | JsonArray;
      readonly children: readonly Child[];
    };

/** A member or element: the text from `start` to `valueStart` is its key. */
export interface Child {
  /** undefined in an array. */
  readonly key: string | undefined;
  readonly from: 'current' | 'incoming';
  readonly start: number;
  readonly valueStart: number;
  readonly value: Written;
}

/** Writes a merged value with current's spacing; `indent` is that of the line on which it starts. */
export function render(written: Written, current: string, incoming: string, indent: string): string {
  const eol = current.includes('\r\n') ? '\r\n' : '\n';
  return new Renderer(current, incoming, eol).value(written, indent);
}

class Renderer {
  private readonly texts: { readonly current: string; readonly incoming: string };
  private readonly eol: string;

  constructor(current: string, incoming: string, eol: string) {
    this.texts = { current, incoming };
    this.eol = eol;
  }

  value(written: Written, indent: string): string {
    if (written.from === 'children') return this.container(written, indent);
    const { start, end } = written.node;
    const text = this.texts[written.from].slice(start, end);
    return written.from === 'current' ? text : this.moved(text, indentAt(this.texts.incoming, start), indent);
  }

  private container({ node, other, children }: Written & { from: 'children' }, indent: string): string {
    const { current } = this.texts;
    const [open, close] = node.kind === 'object' ? ['{', '}'] : ['[', ']'];
    if (children.length === 0) return open + close;
    // The spacing before a child, and before the bracket that closes: current's where it has one.
    const own = firstStart(node);
    const [model, text, first] =
      own === undefined ? ([other, this.texts.incoming, firstStart(other)] as const) : ([node, current, own] as const);
    let lead = text.slice(model.start + 1, first);
    let tail = text.slice(lastEnd(model), model.end - 1);
    if (own === undefined) {
      const from = indentAt(this.texts.incoming, other.start);
      lead = this.moved(lead, from, indent);
      tail = this.moved(tail, from, indent);
    }
    const isOnLines = lead.includes('\n');
    const inner = isOnLines ? lead.slice(lead.lastIndexOf('\n') + 1) : indent;
    const between = isOnLines ? `,${lead}` : `,${spaceBetween(node, current)}`;
    const gaps = gapsOf(node, current);
    const pieces = children.map((child, at) => {
      const gap = at === 0 ? lead : ((child.from === 'current' ? gaps.get(child.start) : undefined) ?? between);
      return gap + this.texts[child.from].slice(child.start, child.valueStart) + this.value(child.value, inner);
    });
    return open + pieces.join('') + tail + close;
  }

  /** A text of incoming at another depth and with current's line ends; only spacing holds line ends in JSON. */
  private moved(text: string, from: string, to: string): string {
    const lines = text.split(/\r?\n/);
    return lines
      .map((line, at) => (at > 0 && line.startsWith(from) ? to + line.slice(from.length) : line))
      .join(this.eol);
  }
}

const childrenOf = (node: JsonObject | JsonArray): readonly { readonly start: number; readonly end: number }[] =>
  node.kind === 'object' ? node.members : node.elements;

const firstStart = (node: JsonObject | JsonArray): number | undefined => childrenOf(node)[0]?.start;
const lastEnd = (node: JsonObject | JsonArray): number => childrenOf(node).at(-1)?.end ?? node.start + 1;

/** What stands between each child and the one before it, by the child's start. */
function gapsOf(node: JsonObject | JsonArray, text: string): Map<number, string> {
  const children = childrenOf(node);
  return new Map(children.slice(1).map(({ start }, at) => [start, text.slice(children[at]?.end, start)] as const));
}

/** What stands behind a comma in a container on one line. */
function spaceBetween(node: JsonObject | JsonArray, text: string): string {
  const [one, two] = childrenOf(node);
  if (one === undefined || two === undefined) return ' ';
  const gap = text.slice(one.end, two.start);
  return gap.slice(gap.indexOf(',') + 1);
}

/** The spaces that start the line in which a place stands. */
function indentAt(text: string, place: number): string {
  const start = text.lastIndexOf('\n', place - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, place))?.[0] ?? '';
}
