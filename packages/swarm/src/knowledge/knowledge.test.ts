import { expect, test } from 'vitest';
import { annotated, emptyIndex, slugsOf, withNote, withoutNotes } from './guide-index.ts';
import { isOutdated, parseEvidence, parseNote, renderNote, slugOf, type Note } from './note.ts';
import { addUse, agedOut, leastUsed, noUse, useOf } from './uses.ts';

const note = (symptom: string, more: Partial<Note> = {}): Note => ({
  slug: slugOf(symptom), symptom, cause: 'a cause', remedy: 'do this', evidence: [{ path: 'src/a.ts', version: 3 }], by: 'w-1', ...more,
}); // prettier-ignore

test('an entry is read as it was written, whatever its words are', () => {
  const odd = note("tests: 'hang' [often], \"no\" output", { evidence: [{ path: 'a.ts', version: 1, symbol: 'run' }, { path: 'b', version: 20 }] }); // prettier-ignore
  expect(parseNote(`field-guide/${odd.slug}.md`, renderNote(odd))).toEqual(odd);
  expect(renderNote(note('a\nb'))).toBe('---\nsymptom: a b\ncause: a cause\ndo: do this\nevidence: [src/a.ts@3]\nby: w-1\n---\n');
  expect(parseNote('x.md', renderNote(odd).replace('cause: a cause\n', ''))).toMatchObject({ line: 1, message: "the head has no 'cause'" });
  expect(parseNote('x.md', renderNote(odd).replace('b@20', 'b'))).toMatchObject({ line: 5, message: "'b' is not PATH@VERSION" });
  expect(parseNote('x.md', 'prose')).toMatchObject({ line: 1 });
}); // prettier-ignore

test('slugs are short, plain and never empty', () => {
  expect(slugOf('Tests hang: «naïve» mocks!')).toBe('tests-hang-naive-mocks');
  expect(slugOf('word '.repeat(40)).length).toBeLessThanOrEqual(60);
  expect(slugOf('x'.repeat(90))).toBe('x'.repeat(60));
  expect(slugOf('日本')).toBe('note');
});

test('evidence is a path, maybe its version, maybe a name in it', () => {
  expect(parseEvidence('src/a.ts')).toEqual({ path: 'src/a.ts', version: undefined });
  expect(parseEvidence('src/a.ts@12#parseCount')).toEqual({ path: 'src/a.ts', version: 12, symbol: 'parseCount' });
  expect(parseEvidence('a b')).toBeUndefined();
  expect(parseEvidence('a@x')).toBeUndefined();
});

test('what a note rests on is by content: of a name only its lines count', () => {
  const then = 'one\nfunction run(a) {\n}\nrunner()\n';
  const whole = { path: 'a', version: 1 };
  const named = { ...whole, symbol: 'run' };
  expect(isOutdated(whole, then, then)).toBe(false);
  expect(isOutdated(whole, then, `${then}more\n`)).toBe(true);
  expect(isOutdated(named, then, `new\n${then.replace('runner()', 'runner(1)')}`)).toBe(false);
  expect(isOutdated(named, then, then.replace('run(a)', 'run(a, b)'))).toBe(true);
  expect(isOutdated(named, then, undefined)).toBe(true);
});

test('the index has one line for each entry', () => {
  const one = withNote('', note('one'));
  expect(one).toBe(`${emptyIndex}- [one](one.md): do this\n`);
  const two = withNote(one, note('two [2]', { slug: 'two' }));
  expect(slugsOf(two)).toEqual(['one', 'two']);
  expect(two.endsWith('- [two (2)](two.md): do this\n')).toBe(true);
  expect(withNote(two, note('one', { remedy: 'do that' }))).toBe(two.replace('(one.md): do this', '(one.md): do that'));
  expect(withoutNotes(two, ['one'])).toBe(two.replace('- [one](one.md): do this\n', ''));
  expect(annotated(one, new Map([['one', 'src/a.ts']]))).toContain('do this (doubtful: src/a.ts has changed since)\n');
  expect(slugsOf('# Head\n\nprose [link](other.md)\n* [a](a.md): x')).toEqual(['a']);
});

test('uses add up; what nobody reads ages, and goes first', () => {
  const at = (uses: number, usedAt: number): { uses: number; tokens: number; usedAt: number } => ({ uses, tokens: 5, usedAt }); // prettier-ignore
  const use = addUse({ ...noUse, notes: { a: at(2, 10), b: at(0, 50) } }, { shown: 1, tokens: 7, notes: { a: at(1, 90), c: at(0, 20) } }); // prettier-ignore
  expect(use).toEqual({ shown: 1, tokens: 7, notes: { a: { uses: 3, tokens: 10, usedAt: 90 }, b: at(0, 50), c: at(0, 20) } }); // prettier-ignore
  expect(leastUsed(use, ['a', 'b', 'c'])).toEqual(['c', 'b', 'a']);
  expect(agedOut(use, ['a', 'b', 'c', 'unknown'], 50)).toEqual(['c']);
  expect(Object.keys(useOf(use, ['b']).notes)).toEqual(['b']);
});
