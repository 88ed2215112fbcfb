import { createHash } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AgentId, TaskId } from '../core/ids.ts';
import type { Spend } from '../core/usage.ts';
import type { Message } from '../model/model.ts';

/** One line of an agent's transcript. */
export type TranscriptLine =
  /** An agent begins, or goes on, at this line. */
  | {
      readonly kind: 'start';
      readonly format: 1;
      /** Milliseconds since 1970, as in every line. */
      readonly at: number;
      readonly run: string;
      readonly task?: TaskId;
      readonly conflict?: string;
      readonly agent: AgentId;
      readonly role: string;
      readonly model: string;
      readonly generation: number;
      /** Seq of the snapshot that it reads. */
      readonly base: number;
    }
  | {
      readonly kind: 'message';
      readonly at: number;
      readonly message: Message;
    }
  /** What a request came to; the message of the model stands behind it, where there is one. */
  | {
      readonly kind: 'spent';
      readonly at: number;
      readonly spent: readonly Spend[];
      readonly ms: number;
      readonly failed: boolean;
    }
  /** A request begins; where nothing follows, the process died in it, and it may have cost so much. */
  | { readonly kind: 'asked'; readonly at: number; readonly guess: Spend }
  /** Reports that the planner has been told. */
  | { readonly kind: 'told'; readonly at: number; readonly tasks: readonly TaskId[] }
  | { readonly kind: 'end'; readonly at: number; readonly reason: string };

export interface ReadTranscript {
  readonly lines: readonly TranscriptLine[];
  /** Up to here it can be read. */
  readonly bytes: number;
  /** Behind that: what was cut off, or cannot be read. */
  readonly lostBytes: number;
}

/** Reads as far as whole lines go. A file that is not there is an empty one. */
export function readTranscript(file: string): ReadTranscript {
  if (!existsSync(file)) return { lines: [], bytes: 0, lostBytes: 0 };
  const all = readFileSync(file);
  const lines: TranscriptLine[] = [];
  let bytes = 0;
  for (;;) {
    const end = all.indexOf(0x0a, bytes);
    if (end < 0) break;
    const line = parseLine(all.toString('utf8', bytes, end));
    if (line === undefined) break;
    lines.push(line);
    bytes = end + 1;
  }
  return { lines, bytes, lostBytes: all.length - bytes };
}

function parseLine(text: string): TranscriptLine | undefined {
  try {
    const value = JSON.parse(text) as TranscriptLine | null;
    return value !== null && typeof value === 'object' && typeof value.kind === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a record says of a transcript, so that a later reader can tell whether it was changed. */
export interface TranscriptSeal {
  readonly file: string;
  readonly bytes: number;
  /** Hex, of that many bytes from the start. */
  readonly sha256: string;
}

/**
 * The file that everything an agent says and is told goes to, a line each,
 * written before anything follows from it. It survives kill -9; a power failure
 * can cost its tail.
 */
export class Transcript {
  readonly file: string;
  #fd: number | undefined;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  /** Goes on behind `readable` bytes of what stands there; what follows them is cut off. */
  constructor(file: string, readable = 0) {
    this.file = file;
    mkdirSync(dirname(file), { recursive: true });
    this.#fd = openSync(file, 'a');
    truncateSync(file, readable);
    if (readable > 0) this.#hash.update(readFileSync(file));
    this.#bytes = readable;
  }

  append(line: TranscriptLine): void {
    if (this.#fd === undefined) return;
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    writeSync(this.#fd, bytes);
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
  }

  /** Closes the file; what is appended later is not kept. */
  close(): TranscriptSeal {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    return { file: this.file, bytes: this.#bytes, sha256: this.#hash.copy().digest('hex') };
  }
}
