import { mergeLines } from '../three-way.ts';
import { canonicalOf, type JsonArray, type JsonNode, type JsonObject, type JsonText } from './parse.ts';
import { render, type Child, type Written } from './render.ts';

interface Sides<T> {
  readonly base: T;
  readonly current: T;
  readonly incoming: T;
}

/** A text of each side; the base's is undefined where both added the file. */
export type JsonSides = Sides<JsonText> | (Omit<Sides<JsonText>, 'base'> & { readonly base: undefined });

/**
 * Merges JSON value by value: an object key by key, an array as a list of
 * elements, anything else as a whole. undefined where both sides changed one
 * value differently. The text is current's, with what incoming changed written
 * into it; new keys stand after the key that they stood after, in order where the
 * object was in order.
 *
 * @param isOrdered keys of the outermost object below which the order of keys means something: what both sides add
 * at one place there is undecided
 */
export function mergeJson(texts: JsonSides, isOrdered: (key: string) => boolean = () => false): MergedJson | undefined {
  const merge = new JsonMerge(texts, isOrdered);
  const { current, incoming, base } = texts;
  const root = merge.value({ base: base?.root, current: current.root, incoming: incoming.root }, false);
  if (root === undefined) return undefined;
  const { text } = current;
  const merged = text.slice(0, current.root.start) + merge.textOf(root, '') + text.slice(current.root.end);
  return { text: merged, canonical: merge.meaningOf(root), isListDoubtful: merge.isListDoubtful };
}

export interface MergedJson {
  readonly text: string;
  readonly canonical: string;
  /** Both sides changed one list at one place: the text has current's elements there. */
  readonly isListDoubtful: boolean;
}

type ValueSides = { readonly base: JsonNode | undefined } & Pick<Sides<JsonNode>, 'current' | 'incoming'>;

class JsonMerge {
  private readonly texts: JsonSides;
  private readonly isOrdered: (key: string) => boolean;
  isListDoubtful = false;
  private readonly canonicals = new Map<JsonNode, string>();

  constructor(texts: JsonSides, isOrdered: (key: string) => boolean) {
    this.isOrdered = isOrdered;
    this.texts = texts;
  }

  textOf(written: Written, indent: string): string {
    return render(written, this.texts.current.text, this.texts.incoming.text, indent);
  }

  /** Of the whole, as {@link canonicalOf} would give it of the written text. */
  meaningOf(written: Written): string {
    if (written.from !== 'children') return this.canonical(written.node);
    const children = written.children.map(({ key, value }) =>
      key === undefined ? this.meaningOf(value) : `${JSON.stringify(key)}:${this.meaningOf(value)}`,
    );
    return written.node.kind === 'array' ? `[${children.join(',')}]` : `{${children.toSorted().join(',')}}`;
  }

  /** `isOrdered`: within a value in which the order of keys means something. */
  value({ base, current, incoming }: ValueSides, isOrdered: boolean): Written | undefined {
    if (this.isSame(current, incoming) || this.isSame(incoming, base)) return { from: 'current', node: current };
    if (this.isSame(current, base)) return { from: 'incoming', node: incoming };
    if (current.kind === 'object' && incoming.kind === 'object' && (base === undefined || base.kind === 'object')) {
      return this.object({ base, current, incoming }, isOrdered);
    }
    if (current.kind === 'array' && incoming.kind === 'array' && base?.kind === 'array') {
      return this.array({ base, current, incoming }, isOrdered);
    }
    return undefined;
  }

  private isSame(one: JsonNode, other: JsonNode | undefined): boolean {
    return other !== undefined && this.canonical(one) === this.canonical(other);
  }

  private canonical(node: JsonNode): string {
    let known = this.canonicals.get(node);
    if (known === undefined) this.canonicals.set(node, (known = canonicalOf(node)));
    return known;
  }

  private object(
    sides: {
      readonly base: JsonObject | undefined;
      readonly current: JsonObject;
      readonly incoming: JsonObject;
    },
    isOrdered: boolean,
  ): Written | undefined {
    const isRoot = sides.current === this.texts.current.root;
    const { current, incoming } = sides;
    const [before, mine, other] = [byKey(sides.base), byKey(current), byKey(incoming)];
    const children: (Child & { readonly key: string })[] = [];
    for (const member of current.members) {
      const { key } = member;
      const [was, theirs] = [before.get(key), other.get(key)];
      if (theirs === undefined && was !== undefined) {
        // Incoming removed what current may have changed.
        if (!this.isSame(member.value, was)) return undefined;
        continue;
      }
      const value = theirs === undefined ? ({ from: 'current', node: member.value } as const) : this.value({ base: was, current: member.value, incoming: theirs }, isOrdered || (isRoot && this.isOrdered(key))); // prettier-ignore
      if (value === undefined) return undefined;
      children.push({ key, start: member.start, valueStart: member.value.start, from: 'current', value });
    }
    const isSorted = isInOrder(current) && isInOrder(incoming);
    let predecessor: string | undefined;
    for (const member of incoming.members) {
      const { key, value } = member;
      const was = before.get(key);
      if (!mine.has(key)) {
        if (was === undefined) {
          const added = { key, start: member.start, valueStart: value.start, from: 'incoming', value: { from: 'incoming', node: value } } as const; // prettier-ignore
          const isNew = (at: string): boolean => !before.has(at) && !other.has(at);
          const place = isSorted ? sortedPlace(children, key) : placeAfter(children, predecessor, isNew);
          const beside = [children[place - 1], children[place]];
          if (isOrdered && beside.some((child) => child !== undefined && isNew(child.key))) return undefined;
          children.splice(place, 0, added);
        } else if (!this.isSame(value, was)) return undefined; // current removed what incoming changed
      }
      if (children.some((child) => child.key === key)) predecessor = key;
    }
    return { from: 'children', node: current, other: incoming, children };
  }

  private array({ base, current, incoming }: Sides<JsonArray>, isOrdered: boolean): Written | undefined {
    const canonicals = (array: JsonArray): string[] => array.elements.map((element) => this.canonical(element));
    const regions = mergeLines(canonicals(base), canonicals(current), canonicals(incoming));
    const children: Child[] = [];
    for (const region of regions) {
      const side = region.kind === 'incoming' ? 'incoming' : 'current';
      const { start, count } = region[side];
      if (region.kind === 'conflict' && (region.base.count !== count || region.incoming.count !== count)) {
        this.isListDoubtful = true;
        return { from: 'current', node: current };
      }
      for (let at = 0; at < count; at++) {
        const node = (side === 'current' ? current : incoming).elements[start + at] as JsonNode;
        const value: Written | undefined =
          region.kind === 'conflict'
            ? this.value(
                {
                  base: base.elements[region.base.start + at],
                  current: node,
                  incoming: incoming.elements[region.incoming.start + at] as JsonNode,
                },
                isOrdered,
              )
            : { from: side, node };
        if (value === undefined) return undefined;
        children.push({ key: undefined, start: node.start, valueStart: node.start, from: side, value });
      }
    }
    return { from: 'children', node: current, other: incoming, children };
  }
}

const byKey = (object: JsonObject | undefined): Map<string, JsonNode> =>
  new Map(object?.members.map(({ key, value }) => [key, value]));

const isInOrder = ({ members }: JsonObject): boolean =>
  members.length > 1 && members.every(({ key }, at) => at === 0 || key > (members[at - 1]?.key ?? ''));

function sortedPlace(children: readonly { readonly key: string }[], key: string): number {
  const after = children.findIndex((child) => child.key > key);
  return after < 0 ? children.length : after;
}

/** Behind a key, and behind what current alone added there. */
function placeAfter(
  children: readonly { readonly key: string }[],
  predecessor: string | undefined,
  isNew: (key: string) => boolean,
): number {
  let place = children.findIndex(({ key }) => key === predecessor) + 1;
  while (place < children.length && isNew((children[place] as { key: string }).key)) place++;
  return place;
}
