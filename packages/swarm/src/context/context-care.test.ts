import { expect, test } from 'vitest';
import { noUsage } from '../core/usage.ts';
import { History } from '../model/history.ts';
import type { ModelTurn } from '../model/model.ts';
import { messagesBytes } from './compact.ts';
import { ContextCare } from './context-care.ts';

const start = (brief = 'b'): History => new History({ role: 'system', content: 's' }, { role: 'user', content: brief });
const reading = (id: string, inputTokens = 0): ModelTurn => ({
  text: '',
  calls: [{ id, name: 'read', arguments: {} }],
  usage: { ...noUsage, inputTokens, outputTokens: 1 },
  finish: 'stop',
});
function read(history: History, chars: number): void {
  for (const call of history.turn(reading('a')))
    history.answer(call, JSON.stringify({ ok: true, text: 'x'.repeat(chars) }));
}

test('the size is checked before each request: a long run stays within its context', () => {
  const care = new ContextCare(8000, []);
  const history = start();
  let compactions = 0;
  for (let turn = 0; turn < 100; turn++) {
    read(history, turn === 50 ? 600_000 : 3000);
    const fit = care.fit(history);
    expect(fit.kind).not.toBe('exhausted');
    if (fit.kind === 'compacted') {
      compactions += 1;
      expect(fit.toTokens).toBeLessThan(fit.fromTokens);
    }
    expect(messagesBytes(history.messages()) / 4).toBeLessThan(8000);
  }
  expect(compactions).toBeGreaterThan(3);
  expect(compactions).toBeLessThan(60);
});

test('one message that is too large to shrink is a typed end', () => {
  expect(new ContextCare(8000, []).fit(start('x'.repeat(100_000)))).toEqual({
    kind: 'exhausted',
    says: expect.stringMatching(/the brief alone has 100000 characters and does not fit in a context of 8000 tokens/),
  });
});

test('what the provider counts teaches how many tokens a byte is', () => {
  const care = new ContextCare(8000, []);
  const history = start('7'.repeat(4000));
  expect(care.fit(history).kind).toBe('fits');
  care.took(history, reading('a', 4000));
  read(history, 3500);
  // By the first guess these were 1,900 tokens; at a token a byte they are 7,600.
  expect(care.fit(history).kind).toBe('compacted');
});

test('a refusal and a server that cuts teach how large the context is', () => {
  const care = new ContextCare(undefined, []);
  const history = start();
  for (let turn = 0; turn < 4; turn++) read(history, 10_000);
  expect(care.fit(history).kind).toBe('fits');
  care.overflowed(history, 6000);
  expect(care.fit(history).kind).toBe('compacted');
  expect(messagesBytes(history.messages()) / 4).toBeLessThan(6000);
  const before = messagesBytes(history.messages());
  care.overflowed(history, undefined);
  expect(care.fit(history).kind).toBe('compacted');
  expect(messagesBytes(history.messages())).toBeLessThan(before);
  care.took(history, { ...reading('a', 4000), warnings: [{ code: 'context-cut', says: '', contextTokens: 2048 }] });
  expect(care.contextTokens).toBe(2048);
});
