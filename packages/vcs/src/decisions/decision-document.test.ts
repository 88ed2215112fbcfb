import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hashOfDecision, isDecisionId, symbolOf, type Decision } from './decision.ts';
import { isDocumentFault, parseDecision, renderDecision } from './decision-document.ts';

const document = (head: string, text = ''): string => `---\n${head}\n---\n${text}`;
const whole = "id: D-1\ntitle: One\ntopics: [a, \"b, c\", 'it''s']\nowner: ada\nstatus: active";

test('a document is read with every form that its head may have', () => {
  const { lines: _, ...read } = parseDecision('design/d.md', document(whole, '\nText.\n\n')) as Decision & { lines: object };
  expect(read).toEqual({
    id: 'D-1',
    title: 'One',
    topics: ['a', 'b, c', "it's"],
    owner: 'ada',
    status: 'active',
    supersedes: [],
    text: 'Text.',
  });
  const list = document('id: D-2\n# why\ntitle: "Two: \\"2\\""\ntopics:\n  - a\n  - b c\nowner: x\nstatus: proposed\nsupersedes:\n- D-1');
  expect(parseDecision('d', list)).toMatchObject({ title: 'Two: "2"', topics: ['a', 'b c'], supersedes: ['D-1'] });
  expect(parseDecision('d', document(whole.replace(/topics.*/, 'topics: []')))).toMatchObject({ topics: [] });
}); // prettier-ignore

test('line ends, a byte order mark and blanks at line ends change neither what is read nor the hash', () => {
  const source = document(whole, 'a\nb\n');
  const windows = `\ufeff${source.replaceAll('\n', '\r\n')}`;
  const read = parseDecision('d', source) as Decision;
  expect(parseDecision('d', windows)).toEqual(read);
  expect(parseDecision('d', Buffer.from(windows))).toEqual(read);
  expect(hashOfDecision({ ...read, text: 'a  \r\nb\n\n' })).toBe(hashOfDecision(read));
  expect(hashOfDecision({ ...read, text: 'a\nB' })).not.toBe(hashOfDecision(read));
  expect(hashOfDecision({ ...read, title: 'Two' })).not.toBe(hashOfDecision(read));
});

describe('what is wrong is named with its line', () => {
  test.each([
    ['no head', 'id: D-1', 1, 'the first line is not ---'],
    ['no end', '---\nid: D-1', 1, 'no line --- ends the head'],
    ['no id', document(whole.replace('id: D-1\n', '')), 1, "the head has no 'id'"],
    ['an odd id', document(whole.replace('D-1', 'D 1')), 2, "the id 'D 1' is not letters"],
    ['an unknown status', document(whole.replace('active', 'done')), 6, "the status 'done' is none of"],
    ['an unknown name', document(`${whole}\ntags: x`), 7, "'tags' is none of"],
    ['a name twice', document(`${whole}\nid: D-2`), 7, "'id' is given twice"],
    ['a text for a list', document(whole.replace(/topics: .*/, 'topics: a')), 4, "'topics' is a text"],
    ['a list for a text', document(whole.replace('One', '[a]')), 3, "'title' is a list"],
    ['an open list', document(whole.replace(/topics: .*/, 'topics: [a')), 4, 'no closing ]'],
    ['an empty item', document(whole.replace(/topics: .*/, 'topics: [a, , b]')), 4, 'an empty item'],
    ['an open quote', document(whole.replace('One', "'One")), 3, "has no closing '"],
    ['a bad string', document(whole.replace('One', '"One')), 3, 'is no JSON string'],
    ['no name', document(`${whole}\nwhat`), 7, "'what' is not NAME: VALUE"],
    ['an item of nothing', document(`- a\n${whole}`), 2, 'a list item stands below no name'],
    ['itself superseded', document(`${whole}\nsupersedes: [D-1]`), 7, 'it supersedes itself'],
    ['an empty text', document(whole.replace('ada', '')), 5, "'owner' is empty"],
  ])('%s', (_name, source, line, message) => {
    const read = parseDecision('design/d.md', source);
    expect(read).toMatchObject({ path: 'design/d.md', line, message: expect.stringContaining(message) as string });
  });

  test('bytes that are no UTF-8', () => {
    expect(parseDecision('d', Buffer.of(0x2d, 0xff))).toMatchObject({ line: 1, message: 'it is not UTF-8' });
  });
});

const word = fc
  .string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...Array.from('ab ,:#[]"\'-\\é\t')) })
  .filter((text) => text.trim() === text && text !== '');
const decision = fc.record({
  id: fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,8}[A-Za-z0-9])?$/).filter((id) => isDecisionId(id)),
  title: word, topics: fc.array(word, { maxLength: 3 }), owner: word,
  status: fc.constantFrom('active' as const, 'superseded' as const, 'proposed' as const),
  text: fc.array(word, { maxLength: 3 }).map((lines) => lines.join('\n')),
}); // prettier-ignore

test('what is written is read as the same', () => {
  fc.assert(
    fc.property(decision, (one) => {
      const given: Decision = { ...one, supersedes: one.id === 'x' ? [] : ['x'] };
      const read = parseDecision('d', renderDecision(given));
      expect(isDocumentFault(read)).toBe(false);
      expect(read).toMatchObject(given);
    }),
  );
});

test('an id gives one symbol', () => {
  expect(symbolOf('auth.token-ttl')).toBe('DECISION_AUTH_TOKEN_TTL');
  expect(['D-1', '7', 'a_b', 'a.b'].map(isDecisionId)).toEqual([true, true, true, true]);
  expect(['', '-a', 'a-', 'a/b', 'a b', 'é', 'x'.repeat(65)].some(isDecisionId)).toBe(false);
});
