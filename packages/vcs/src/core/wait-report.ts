/** How long the intents of this process waited for their outcomes, from the call to the answer, in milliseconds. */
export interface WaitReport {
  readonly count: number;
  /** How often one of them was found stale, to be merged and offered again. */
  readonly stale: number;
  readonly msP50: number;
  readonly msP99: number;
  readonly msP999: number;
  readonly msMax: number;
}
