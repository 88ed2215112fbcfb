import type { CostSum } from '../cost/cost-ledger.ts';
import type { SwarmEvent } from '../events/event.ts';
import { renderScreen } from './run-screen.ts';
import { newWatch, watched, type RunWatch } from './run-watch.ts';

/** Between two pictures. */
const frameMs = 200;

/** Where it is shown: what of a terminal's stream is needed. */
export interface Screen {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): boolean;
}

/** True where pictures can be drawn one over the other. */
export const isLive = (screen: Screen, env: NodeJS.ProcessEnv): boolean =>
  screen.isTTY === true && env['TERM'] !== 'dumb';

/** A picture of the run that is drawn anew a few times a second, in place. */
export class LiveView {
  readonly #screen: Screen;
  readonly #isColoured: boolean;
  #watch: RunWatch = newWatch(Date.now());
  #drawnRows = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(screen: Screen, env: NodeJS.ProcessEnv) {
    this.#screen = screen;
    this.#isColoured = !env['NO_COLOR'];
    this.#timer = setInterval(() => this.#draw(), frameMs);
    this.#timer.unref();
  }

  see(event: SwarmEvent): void {
    this.#watch = watched(this.#watch, event, Date.now());
  }

  spent(cost: CostSum): void {
    this.#watch = { ...this.#watch, cost };
  }

  #draw(): void {
    const { columns = 80, rows = 24 } = this.#screen;
    // The last row stays free: a full one would scroll.
    const lines = renderScreen(this.#watch, Date.now(), { columns: columns - 1, rows: rows - 1 }, this.#isColoured);
    this.#screen.write(`${this.#back()}${lines.map((line) => `${line}\u001B[K\n`).join('')}\u001B[J`);
    this.#drawnRows = lines.length;
  }

  #back(): string {
    return this.#drawnRows === 0 ? '' : `\u001B[${this.#drawnRows}A\r`;
  }

  /** Draws it a last time; what follows is written below it. */
  close(): void {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#draw();
  }
}
