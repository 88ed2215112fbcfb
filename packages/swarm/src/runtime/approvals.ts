/** What waits for the word of those who started the run. */
export class Approvals {
  readonly #waiting = new Map<string, (text: string | undefined) => void>();
  #isClosed = false;

  /** The answer, or undefined where the run is being stopped. */
  wait(question: string): Promise<string | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined);
    return new Promise((resolve) => this.#waiting.set(question, resolve));
  }

  /** False where nothing waits for it. */
  answer(question: string, text: string): boolean {
    const go = this.#waiting.get(question);
    this.#waiting.delete(question);
    go?.(text);
    return go !== undefined;
  }

  close(): void {
    this.#isClosed = true;
    for (const go of this.#waiting.values()) go(undefined);
    this.#waiting.clear();
  }
}

export const approved = 'approved';
export const isApproval = (text: string): boolean => /^(approved?|yes|ok)[.!]?$/i.test(text.trim());
