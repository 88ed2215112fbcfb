import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, bindTool, type ToolAnswer } from '../tools/tool.ts';
import { Toolset } from '../tools/toolset.ts';
import { shippedRoles } from '../roles/roles.ts';
import { Assembly } from './wire/assembly.ts';
import { readEvents } from './wire/sse.ts';
import { commonQuirks } from './wire/quirks.ts';
import type { JsonObject } from '../core/json.ts';
import type { ModelTurn } from './model.ts';
import { ask, call, delta, sse, status, streamOf } from './fault-server.test.kit.ts';

/** Cases made after reports by people who do this job; they lie beside the project where it is developed. */
const root = join(import.meta.dirname, '../../../../../shared/cases');
const read = (name: string): Buffer => readFileSync(join(root, name));
const json = (name: string): unknown => JSON.parse(read(name).toString());

async function assemble(pieces: Iterable<Uint8Array>): Promise<ModelTurn> {
  const assembly = new Assembly({ endpoint: 'e', model: 'm', quirks: commonQuirks, inputBytes: 1, offered: new Set() });
  let sawDone = false;
  const body = (async function* (): AsyncGenerator<Uint8Array> {
    yield* pieces;
  })();
  for await (const event of readEvents(body)) {
    if (event === undefined || event.data === '') continue;
    if (event.data === '[DONE]') sawDone = true;
    else assembly.push(JSON.parse(event.data) as JsonObject);
  }
  return assembly.finish(sawDone);
}

describe.skipIf(!existsSync(root))('recorded cases', () => {
  test('17: streamed calls without an index, and a name that comes late', async () => {
    const expected = json('17-stream-tool-calls-no-index/expected.json') as Record<string, unknown[]>;
    expect(Object.keys(expected)).toHaveLength(3);
    for (const [name, calls] of Object.entries(expected)) {
      const bytes = read(`17-stream-tool-calls-no-index/${name}`);
      const turn = await ask({}, (response) => void sse(response).end(bytes));
      expect(turn.calls).toEqual(calls);
    }
  });

  test('19: calls decide, whatever the finish reason is', async () => {
    const answers = json('19-finish-reason-mismatch/responses.json') as {
      name: string;
      response: { choices: [{ message: object; finish_reason: string | null }] };
    }[];
    const seen: Record<string, [unknown, string | undefined]> = {};
    for (const { name, response } of answers) {
      const [{ message, finish_reason: reason }] = response.choices;
      const turns = [
        await ask({ streaming: false }, status(200, response)),
        await ask({}, streamOf({ choices: [{ index: 0, delta: message, finish_reason: reason }] }, '[DONE]')),
      ];
      for (const { calls } of turns) seen[name] = [calls.map((one) => one.id), calls[0]?.fault];
    }
    expect(seen).toEqual({
      'stop but calls present': [['c1'], undefined],
      'tool_calls but none present': [[], undefined],
      'length with a cut-off call': [['c1'], expect.stringContaining('cut off at the length limit')],
      'null finish, calls present': [['c1'], undefined],
    });
  });

  test('20: arguments that are empty, doubly encoded, an object, or broken', async () => {
    const rows = json('20-bad-arguments/calls.json') as { arguments: unknown; schema: string; right: string }[];
    const ran: unknown[] = [];
    const tool = (schema: z.ZodType): ReturnType<typeof bindTool> =>
      bindTool(defineTool('read', 'r', schema), (input): ToolAnswer => {
        ran.push(input);
        return { ok: true, says: 'ran' };
      });
    const bare = tool(z.strictObject({}));
    const path = tool(z.strictObject({ path: z.string() }));
    const finish = bindTool(defineTool('finish', 'f', z.strictObject({})), () => ({ ok: true, says: 'ended' }));
    const role = { ...shippedRoles().worker, tools: ['read', 'finish'] as const };
    const came: [boolean, string, unknown][] = [];
    for (const row of rows) {
      ran.length = 0;
      const turn = await ask(
        {},
        streamOf(
          call({ index: 0, id: 'a', function: { name: 'read', arguments: row.arguments } }),
          delta({}, 'tool_calls'),
        ),
      );
      const [made] = turn.calls;
      if (made === undefined) throw new Error('no call');
      const answer = await new Toolset(role, [row.schema === 'no parameters' ? bare : path, finish]).call(made, '0.0');
      came.push([answer.ok, answer.says, ran[0]]);
    }
    expect(came).toEqual([
      [true, 'ran', {}],
      [false, expect.stringMatching(/path.*JSON Schema: .*"required":\["path"\]/), undefined],
      [true, 'ran', { path: 'a' }],
      [true, 'ran', { path: 'a' }],
      [false, expect.stringContaining('{"{\\"path\\":\\"a\\"}'), undefined],
      [false, expect.stringContaining('not a JSON object'), undefined],
      [true, 'ran', {}],
      [false, expect.stringContaining('{"path":"a"}{"path":"b"}'), undefined],
      [true, 'ran', { path: 'quote "AI" and \\ back' }],
    ]);
  });

  test('22: bytes cut anywhere, line ends, comments and empty events change nothing', async () => {
    const { text, bytes } = json('22-utf8-split/expected.json') as { text: string; bytes: number };
    const stream = read('22-utf8-split/stream.sse');
    expect(stream.length).toBeGreaterThan(300);
    const texts = new Set<string>();
    for (let at = 1; at < stream.length; at++) {
      texts.add((await assemble([stream.subarray(0, at), stream.subarray(at)])).text);
    }
    const single = (whole: Buffer): Uint8Array[] => Array.from(whole, (_, at) => whole.subarray(at, at + 1));
    texts.add((await assemble(single(stream))).text);
    const crlf = Buffer.from(stream.toString().replaceAll('\n', '\r\n'));
    texts.add((await assemble(single(crlf))).text);
    texts.add((await assemble([crlf])).text);
    const noisy = Buffer.from(stream.toString().replaceAll('\n\n', '\n\n: keep-alive\n\ndata:\n\n'));
    texts.add((await assemble(single(noisy))).text);
    expect([...texts]).toEqual([text]);
    expect(bytes).toBeGreaterThan(0);
  });
});
