import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultOfHistory } from '../model/history.ts';
import type { Message } from '../model/model.ts';
import { compact, messagesBytes } from './compact.ts';

const head: Message[] = [
  { role: 'system', content: 'You are a worker.' },
  { role: 'user', content: 'The brief.' },
];
const turn = (at: number, result: string, args = 'a'): Message[] => [
  { role: 'assistant', content: `turn ${at}`, calls: [{ id: `t${at}`, name: 'read', arguments: { path: args } }] },
  {
    role: 'tool',
    callId: `t${at}`,
    name: 'read',
    content: JSON.stringify({ ok: true, says: 'the whole file', version: at, text: result }),
  },
];
const turns = (count: number, chars: number): Message[] =>
  Array.from({ length: count }, (_, at) => turn(at, 'x'.repeat(chars))).flat();

test('old results go first; the newest turns and the short fields stay', () => {
  const compaction = compact([...head, ...turns(10, 4000)], 26_000);
  if (compaction.kind === 'stuck') throw new Error(compaction.says);
  const contents = compaction.messages.map(({ content }) => content);
  expect(contents.slice(0, 2)).toEqual(['You are a worker.', 'The brief.']);
  expect(JSON.parse(contents[3] ?? '')).toMatchObject({
    ok: true,
    version: 0,
    note: expect.stringContaining('left out'),
  });
  expect(contents.at(-1)?.length).toBeGreaterThan(4000);
  expect(compaction.messages).toHaveLength(22);
  expect(compaction.bytes).toBe(messagesBytes(compaction.messages));
});

test('then whole turns, with a note of what they did, which adds up', () => {
  let messages: readonly Message[] = [...head, ...turns(60, 500)];
  for (const bytesMax of [12_000, 9000, 7000]) {
    const compaction = compact(messages, bytesMax);
    if (compaction.kind === 'stuck') throw new Error(compaction.says);
    ({ messages } = compaction);
    const [, , note, ...rest] = messages;
    const left = rest.filter(({ role }) => role === 'assistant').length;
    expect(note?.content).toContain(
      `${60 - left} earlier turns were left out. Calls that they made: read x${60 - left}.`,
    );
  }
});

test('a result of 150,000 tokens in mid-run is cut to what fits', () => {
  const compaction = compact([...head, ...turns(3, 100), ...turn(9, 'word '.repeat(120_000))], 60_000);
  if (compaction.kind === 'stuck') throw new Error(compaction.says);
  const last = compaction.messages.at(-1)?.content ?? '';
  expect(last.length).toBeGreaterThan(20_000);
  expect(JSON.parse(last)).toMatchObject({ ok: true, version: 9, cut: expect.stringContaining('word word') });
});

test('a brief that is too large alone cannot be made to fit, and is named', () => {
  const messages: Message[] = [head[0] ?? { role: 'system', content: '' }, { role: 'user', content: 'x'.repeat(9000) }];
  expect(compact(messages, 5000)).toEqual({
    kind: 'stuck',
    says: 'the brief alone has 9000 characters and does not fit',
  });
  expect(compact([...head, ...turns(1, 10)], 100)).toMatchObject({ kind: 'stuck' });
});

const text = fc.oneof(
  fc.string({ maxLength: 50 }),
  fc.string({ maxLength: 20 }).map((part) => part.repeat(400)),
  fc.string({ unit: 'grapheme', maxLength: 900 }),
);
const unit = (at: number): fc.Arbitrary<Message[]> =>
  fc.oneof(
    text.map((content): Message[] => [{ role: 'user', content }]),
    fc.tuple(text, fc.array(fc.tuple(text, text), { maxLength: 3 })).map(([content, calls]): Message[] => [
      {
        role: 'assistant',
        content,
        calls: calls.map(([args], number) => ({ id: `t${at}_${number}`, name: 'read', arguments: { args } })),
      },
      ...calls.map(([, result], number): Message => ({
        role: 'tool',
        callId: `t${at}_${number}`,
        name: 'read',
        content: number % 2 ? result : JSON.stringify({ ok: true, text: result }),
      })),
    ]),
  );

test('any history becomes one that fits and is well-formed, or is stuck', () => {
  const histories = fc
    .integer({ min: 0, max: 12 })
    .chain((count) => fc.tuple(...Array.from({ length: count }, (_, at) => unit(at))));
  fc.assert(
    fc.property(histories, fc.integer({ min: 60, max: 20_000 }), (units, bytesMax) => {
      const messages = [...head, ...units.flat()];
      const compaction = compact(messages, bytesMax);
      if (compaction.kind === 'stuck') return messagesBytes(messages) > bytesMax || bytesMax < 200;
      expect(faultOfHistory(compaction.messages)).toBeUndefined();
      expect(compaction.bytes).toBe(messagesBytes(compaction.messages));
      expect(compaction.messages.slice(0, 2)).toEqual(head);
      return compaction.bytes <= bytesMax;
    }),
    { seed: 11, numRuns: 150 },
  );
});
