/** Those behind one, in order, and the tokens of the holds that they wait for. */
export class WaitingLine<Item> {
  readonly waiting: Item[] = [];
  readonly holds = new Set<string>();
}

/**
 * Intents on paths that are held for another's merge. Those of one hold stand in
 * one line: only its first is decided again, the next when that one has ended. So
 * the waiting cost nothing, and who came first goes first.
 */
export class WaitingLines<Item extends { readonly line: WaitingLine<Item> }> {
  private readonly byHold = new Map<string, WaitingLine<Item>>();

  /** This one's merge holds paths from now on. */
  holding(item: Item, hold: string): void {
    item.line.holds.add(hold);
    this.byHold.set(hold, item.line);
  }

  /**
   * It waits for a hold: true where it stands in a line, and is given by
   * {@link ended}; false where it has to be decided again soon, since the hold is
   * another process's, or two wait for each other until a hold expires.
   */
  join(item: Item, hold: string): boolean {
    const line = this.byHold.get(hold);
    if (line === undefined) this.holding(item, hold);
    if (line === undefined || line === item.line) return false;
    line.waiting.push(item, ...item.line.waiting.splice(0));
    for (const own of item.line.holds) {
      line.holds.add(own);
      this.byHold.set(own, line);
    }
    item.line.holds.clear();
    return true;
  }

  /** Whose turn it is after one that has come to its end; the others stand behind it. */
  ended({ line }: Item): Item | undefined {
    for (const hold of line.holds) this.byHold.delete(hold);
    line.holds.clear();
    const next = line.waiting.shift();
    return next && { ...next, line };
  }
}
