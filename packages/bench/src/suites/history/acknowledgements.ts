import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '@mound/vcs';

/** What one agent was told of one intent: a line of its own file, written before it goes on. */
export interface AcknowledgedLine {
  readonly operationId: string;
  readonly outcome: Outcome['kind'];
  readonly seq: number;
  readonly conflict?: string;
  /** Where the intent landed as a commit; a landing that left the tree as it was makes none. */
  readonly commit?: string;
  readonly paths: readonly { readonly path: string; readonly blob?: string }[];
}

/** One file an agent, so that no two agents share a writer. */
export class AcknowledgementFiles {
  private readonly dir: string;
  private readonly handles = new Map<string, number>();

  constructor(dir: string) {
    this.dir = dir;
    mkdirSync(dir, { recursive: true });
  }

  write(agent: string, operationId: string, outcome: Outcome, paths: AcknowledgedLine['paths']): void {
    const name = agent.replaceAll(/[^A-Za-z0-9._-]/g, '_');
    const handle = this.handles.get(name) ?? openSync(join(this.dir, `${name}.jsonl`), 'a');
    this.handles.set(name, handle);
    const line: AcknowledgedLine = {
      operationId,
      outcome: outcome.kind,
      seq: 'seq' in outcome ? outcome.seq : 0,
      ...('commit' in outcome && outcome.commit !== undefined && { commit: outcome.commit }),
      ...(outcome.kind === 'conflicted' && { conflict: outcome.conflict }),
      paths,
    };
    writeSync(handle, `${JSON.stringify(line)}\n`);
  }

  close(): void {
    for (const handle of this.handles.values()) closeSync(handle);
    this.handles.clear();
  }
}

/** Whole lines of all agents' files. */
export function readAcknowledgements(dir: string): AcknowledgedLine[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1))
    .map((line) => JSON.parse(line) as AcknowledgedLine);
}
