import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

import type { Engine, EngineError, Rows, Session } from '../engine.ts';
import { escapeText, parseReply, unescapeText, type Reply } from '../protocol.ts';
import { renderInteger, renderReal, renderText, textOfReal } from '../render.ts';

/** An answer, or what an engine writes without a line's end, of more than this is not taken. */
const answerBytesMax = 256 * 1024 * 1024;
const lastWordsBytes = 2048;
/** What an engine's process is given of this process's environment. */
const environmentNames = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'LD_LIBRARY_PATH'];

/** Lines of a stream, asked for one by one. */
class LineQueue {
  private rest: Buffer[] = [];
  private restBytes = 0;
  private readonly lines: string[] = [];
  private first = 0;
  private ended: Error | undefined;
  private waiting: (() => void) | undefined;

  push(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const part = chunk.subarray(from, end);
      this.lines.push((this.rest.length === 0 ? part : Buffer.concat([...this.rest, part])).toString('utf8'));
      this.rest = [];
      this.restBytes = 0;
      from = end + 1;
    }
    if (from < chunk.length) {
      this.rest.push(Buffer.from(chunk.subarray(from)));
      this.restBytes += chunk.length - from;
    }
    if (this.restBytes > answerBytesMax)
      this.end(new Error(`the engine wrote ${this.restBytes} bytes without a line's end`));
    this.wake();
  }

  end(error: Error): void {
    this.ended ??= error;
    this.wake();
  }

  private wake(): void {
    const wake = this.waiting;
    this.waiting = undefined;
    wake?.();
  }

  async next(): Promise<string> {
    for (;;) {
      const line = this.lines[this.first];
      if (line !== undefined) {
        this.first++;
        if (this.first === this.lines.length) {
          this.lines.length = 0;
          this.first = 0;
        }
        return line;
      }
      if (this.ended !== undefined) throw this.ended;
      await new Promise<void>((resolve) => (this.waiting = resolve));
    }
  }
}

class CommandSession implements Session {
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly lines = new LineQueue();
  private lastWords = '';

  constructor(command: string, onProcess: (pid: number) => void) {
    const env = Object.fromEntries(environmentNames.map((name) => [name, process.env[name]]));
    // A group of its own, so that all of it can be ended.
    this.child = spawn(command, { shell: true, detached: true, stdio: 'pipe', env });
    if (this.child.pid !== undefined) onProcess(this.child.pid);
    this.child.stdout.on('data', (chunk: Buffer) => this.lines.push(chunk));
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.lastWords = (this.lastWords + chunk.toString('utf8')).slice(-lastWordsBytes);
    });
    // Its exit tells more than a broken pipe does.
    this.child.stdin.on('error', () => undefined);
    this.child.once('error', (error) => this.lines.end(error));
    this.child.once('close', (code, signal) => {
      const said = this.lastWords.trim().split('\n').at(-1) ?? '';
      this.lines.end(new Error(`the engine ended (${signal ?? `exit ${code}`})${said === '' ? '' : `: ${said}`}`));
    });
  }

  async statement(sql: string): Promise<EngineError | undefined> {
    const reply = await this.ask(`statement ${escapeText(sql)}\n`);
    if (reply.kind === 'error') return { error: reply.message };
    if (reply.kind === 'rows') for (let left = reply.columns * reply.rows; left > 0; left--) await this.lines.next();
    return undefined;
  }

  async query(sql: string, types: string): Promise<Rows | EngineError> {
    const reply = await this.ask(`query ${types} ${escapeText(sql)}\n`);
    if (reply.kind === 'error') return { error: reply.message };
    if (reply.kind === 'ok') return { columns: types.length, values: [] };
    const values: string[] = [];
    const count = reply.columns * reply.rows;
    for (let at = 0; at < count; at++) {
      values.push(rendered(await this.lines.next(), types[at % reply.columns] ?? 'T'));
    }
    return { columns: reply.columns, values };
  }

  private async ask(request: string): Promise<Reply> {
    this.child.stdin.write(request);
    const reply = parseReply(await this.lines.next());
    if (typeof reply === 'string') throw new Error(`the engine ${reply}`);
    return reply;
  }

  close(): void {
    this.child.stdin.end();
    if (this.child.pid === undefined) return;
    try {
      process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // It has gone already.
    }
  }
}

/** A value's line, by its first letter, as the column's type wants it. */
function rendered(line: string, type: string): string {
  const form = line[0];
  const text = line.slice(2);
  if (form === 'n' && line.length === 1) return 'NULL';
  if (line[1] !== ' ')
    throw new Error(
      `the engine gave the value ${JSON.stringify(line.slice(0, 80))}; a value is n, or i, r, t or b with a space and the value`,
    );
  if (form === 'i' && /^[+-]?\d+$/.test(text)) {
    if (type === 'I') return renderInteger(text);
    return type === 'R' ? renderReal(Number(text)) : text;
  }
  if (form === 'r') {
    const real = realOf(text);
    if (Number.isNaN(real)) return 'NULL';
    if (type === 'I') return renderInteger(real);
    return type === 'R' ? renderReal(real) : textOfReal(real);
  }
  if (form === 't' || (form === 'b' && /^([0-9a-f]{2})*$/i.test(text))) {
    const bytes = form === 't' ? unescapeText(text) : Buffer.from(text, 'hex').toString('latin1');
    if (type === 'I') return renderInteger(bytes);
    if (type === 'R') return renderReal(bytes);
    return renderText(form === 't' ? bytes : Buffer.from(bytes, 'latin1'));
  }
  throw new Error(`the engine gave the value ${JSON.stringify(line.slice(0, 80))}, which is none`);
}

function realOf(text: string): number {
  const infinite = /^([+-]?)inf(inity)?$/i.exec(text);
  if (infinite) return infinite[1] === '-' ? -Infinity : Infinity;
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** An engine that is a command line, run by the shell, one process a file. */
export const commandEngine = (command: string, dialect: string): Engine => ({
  name: command,
  dialect,
  identity: `command ${command} as ${dialect}`,
  open: (onProcess) => new CommandSession(command, onProcess),
});
