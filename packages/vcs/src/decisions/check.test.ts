import { expect, test } from 'vitest';
import { checkDecisions, hasFindings, type TreeFile } from './check.ts';
import { hashOfDecision, type Decision } from './decision.ts';
import { renderDecision } from './decision-document.ts';
import { DecisionSet, designDocument } from './decision-set.ts';
import { generateSymbols } from './generate.ts';
import { citationsOf } from './reference.ts';

const decision = (id: string, more: Partial<Decision> = {}): Decision => ({
  id, title: `About ${id}`, topics: [id], owner: 'ada', status: 'active', supersedes: [], text: 'So.', ...more,
}); // prettier-ignore
const file = (path: string, content: string): TreeFile => ({ path, content: Buffer.from(content) });
const design = (one: Decision, path = `design/${one.id}.md`): TreeFile => file(path, renderDecision(one));

test('references are found in comments of any language and as symbols, with their lines', () => {
  const text = [
    '// @decision D-1@0011aabb and @decision D-2.',
    '# see @decision auth.ttl, or (@decision D-3@0011aabbc)',
    'use crate::decisions::DECISION_D_1;',
    'mail@decision D-9 @@decision D-8 @decisions D-7 MY_DECISION_D_1 DECISION_x',
  ].join('\n');
  expect(citationsOf(Buffer.from(text)).map(({ line, id, symbol, hash }) => [line, id ?? symbol, hash])).toEqual([
    [1, 'D-1', '0011aabb'],
    [1, 'D-2', undefined],
    [2, 'auth.ttl', undefined],
    [2, 'D-3', '0011aabbc'],
    [3, 'DECISION_D_1', undefined],
  ]);
  expect(citationsOf(Buffer.from('\0// @decision D-1'))).toEqual([]);
});

test('one document supersedes another by naming it, and chains stay superseded', () => {
  const set = new DecisionSet(
    [decision('A'), decision('B', { supersedes: ['A'] }), decision('C', { supersedes: ['B'] }), decision('P', { status: 'proposed', supersedes: ['C'] })]
      .map((one) => design(one)).map(({ path, content }) => designDocument(path, content)),
  ); // prettier-ignore
  expect(set.faults).toEqual([]);
  expect(set.decisions.map(({ id, status, supersededBy }) => [id, status, ...supersededBy])).toEqual([
    ['A', 'superseded', 'B'],
    ['B', 'superseded', 'C'],
    ['C', 'active'],
    ['P', 'proposed'],
  ]);
});

test('documents at odds with one another are named with file and line', () => {
  const files = [
    design(decision('A')),
    design(decision('A'), 'design/twin.md'),
    design(decision('a'), 'design/zfold.md'),
    design(decision('B', { supersedes: ['nowhere'] })),
    design(decision('X', { supersedes: ['Y'] })),
    design(decision('Y', { supersedes: ['X'] })),
  ];
  const { faults } = checkDecisions(files, files);
  expect(faults.map(({ path, line, message }) => `${path}:${line}: ${message}`)).toEqual([
    "design/twin.md:2: the id 'A' is taken by design/A.md",
    "design/zfold.md:2: the id 'a', which gives the symbol of 'A', is taken by design/A.md",
    "design/B.md:7: it supersedes 'nowhere', which no document holds",
    "design/X.md:7: 'X' supersedes itself in a circle",
    "design/Y.md:7: 'Y' supersedes itself in a circle",
  ]);
});

test('a check tells missing, superseded, proposed, outdated, and generated files that are old', () => {
  const old = decision('OLD');
  const now = decision('NOW', { supersedes: ['OLD'] });
  const documents = [design(old), design(now), design(decision('MAYBE', { status: 'proposed' }))];
  const set = new DecisionSet(documents.map(({ path, content }) => designDocument(path, content)));
  const generated = file('src/decisions.ts', generateSymbols('decisions.ts', set.decisions));
  const stale = file('src/old.rs', generateSymbols('old.rs', []));
  const code = [
    `// @decision NOW@${hashOfDecision(now)}`,
    '// @decision NOW@00000000',
    '// @decision OLD',
    '// @decision GONE',
    'f(DECISION_MAYBE, DECISION_NOW)',
  ].join('\n');
  const report = checkDecisions(documents, [...documents, generated, stale, file('src/a.ts', code)]);
  const lines = (found: readonly { readonly line: number; readonly id: string }[]): string[] =>
    found.map(({ line, id }) => `${line} ${id}`);
  expect(report.references).toHaveLength(6);
  expect(lines(report.missing)).toEqual(['4 GONE', '5 MAYBE']);
  expect(lines(report.superseded)).toEqual(['3 OLD']);
  expect(report.superseded[0]?.says).toBe("'OLD' is superseded by NOW; cite that");
  expect(lines(report.outdated)).toEqual(['2 NOW']);
  expect(report.outdated[0]?.says).toContain(`then cite NOW@${hashOfDecision(now)}`);
  expect(report.stale).toEqual(['src/old.rs']);
  expect(hasFindings(report)).toBe(true);
  expect(hasFindings(checkDecisions(documents, [generated]))).toBe(false);
});

test('what is generated is the same for the same decisions, in four languages', () => {
  const documents = [decision('z.last', { title: 'Ends */ here\nand there' }), decision('A', { topics: [] })];
  const set = new DecisionSet(documents.map((one) => designDocument(`design/${one.id}.md`, renderDecision({ ...one, title: one.title.replace('\n', ' ') }))));
  const hash = (id: string): string => set.get(id)?.hash ?? '';
  expect(generateSymbols('x/decisions.ts', set.decisions)).toBe(
    [
      '// Code generated by mound decisions gen: do not edit. What is not active has no symbol here.',
      '',
      '// About A (design/A.md; by ada)',
      `export const DECISION_A = "A@${hash('A')}" as const;`,
      '',
      '// Ends */ here and there (design/z.last.md; by ada; decides z.last)',
      `export const DECISION_Z_LAST = "z.last@${hash('z.last')}" as const;`,
      '',
    ].join('\n'),
  );
  expect(generateSymbols('decisions.rs', set.decisions)).toContain(`\n#![allow(dead_code)]\n\n// About A`);
  expect(generateSymbols('decisions.rs', set.decisions)).toContain(`pub const DECISION_A: &str = "A@${hash('A')}";`);
  expect(generateSymbols('decisions.py', set.decisions)).toContain(`\nDECISION_A = "A@${hash('A')}"\n`);
  expect(generateSymbols('decisions.go', set.decisions)).toContain(`package decisions\n\n// About A`);
  expect(() => generateSymbols('decisions.txt', set.decisions)).toThrow('ends with none of .ts');
}); // prettier-ignore
