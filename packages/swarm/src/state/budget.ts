import {
  addAmounts,
  dimensions,
  eachDimension,
  noAmount,
  type Amount,
  type Cap,
  type Dimension,
} from '../core/amount.ts';

/**
 * One node of the budget tree. What is free is `cap - reserved - spent`; a
 * reservation moves free to reserved before anything starts, a settlement moves
 * reserved to spent and gives the rest back. A node is only ever changed
 * together with the one above it, in one transaction.
 */
export interface BudgetNode {
  readonly format: 1;
  readonly cap: Cap;
  /** Caps of the open nodes below. */
  readonly reserved: Amount;
  /** By its own agents, and by the settled nodes below. */
  readonly spent: Amount;
  readonly state: 'open' | 'settled';
}

/** What a budget does not cover. */
export interface Shortage {
  readonly kind: 'short';
  readonly dimension: Dimension;
  readonly asked: number | 'unlimited';
  readonly free: number;
}

export const openNode = (cap: Cap): BudgetNode => ({
  format: 1,
  cap,
  reserved: noAmount,
  spent: noAmount,
  state: 'open',
});

/** `held`: by requests in flight. Never below 0. */
export function freeOf(node: BudgetNode, dimension: Dimension, held: Amount = noAmount): number | 'unlimited' {
  const cap = node.cap[dimension];
  if (cap === 'unlimited') return cap;
  return Math.max(0, cap - node.reserved[dimension] - node.spent[dimension] - held[dimension]);
}

/** The first dimension that does not cover the amount; undefined where all do. */
export function shortageOf(node: BudgetNode, asked: Cap, held: Amount = noAmount): Shortage | undefined {
  for (const dimension of dimensions) {
    const free = freeOf(node, dimension, held);
    const wanted = asked[dimension];
    if (free === 'unlimited') continue;
    if (wanted === 'unlimited' || wanted > free) return { kind: 'short', dimension, asked: wanted, free };
  }
  return undefined;
}

/** A cap as an amount: what has no bound reserves nothing. */
const amountOf = (cap: Cap): Amount =>
  eachDimension((dimension) => {
    const bound = cap[dimension];
    return bound === 'unlimited' ? 0 : bound;
  });

/** The node above, with one more reservation below it, and the new node. */
export function reserve(
  above: BudgetNode,
  cap: Cap,
  held: Amount = noAmount,
): { readonly kind: 'reserved'; readonly above: BudgetNode; readonly node: BudgetNode } | Shortage {
  const short = shortageOf(above, cap, held);
  if (short !== undefined) return short;
  const reserved = addAmounts(above.reserved, amountOf(cap));
  return { kind: 'reserved', above: { ...above, reserved }, node: openNode(cap) };
}

export const charge = (node: BudgetNode, amount: Amount): BudgetNode => ({
  ...node,
  spent: addAmounts(node.spent, amount),
});

/** Closes a node: what it spent is the one's above, what it did not spend is free there again. Settled nodes stay. */
export function settle(
  above: BudgetNode,
  node: BudgetNode,
): { readonly above: BudgetNode; readonly node: BudgetNode } | undefined {
  if (node.state === 'settled') return undefined;
  const given = amountOf(node.cap);
  const reserved = eachDimension((dimension) => above.reserved[dimension] - given[dimension]);
  return {
    above: { ...above, reserved, spent: addAmounts(above.spent, node.spent) },
    node: { ...node, state: 'settled' },
  };
}

/**
 * What each of `count` new tasks may have where their planner names nothing:
 * an equal part of half of what is free, so that a planner that always
 * delegates never runs dry by it.
 */
export const shareOf = (node: BudgetNode, count: number, held: Amount = noAmount): Cap =>
  eachDimension((dimension) => {
    const free = freeOf(node, dimension, held);
    return free === 'unlimited' ? free : Math.floor(free / 2 / count);
  });
