import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { seededRandom } from '@mound/vcs';
import { faultOfLenses, type Finding, type Lens } from '../core/lens.ts';
import { corpusOf, defectKinds, pointsAt, type RealDiff } from './corpus.ts';
import { phiOf, ReviewLedger } from './review-ledger.ts';
import { lensesFor, riskOf, type LandingFacts } from './risk.ts';
import { scoreReviews } from './score.ts';

const lens = (name: string, more: Partial<Lens> = {}): Lens => ({
  name,
  sees: 'output',
  model: 'm',
  persona: '',
  appliesTo: [],
  rate: 0.1,
  ...more,
});
const plain = { lines: 0, breaks: false, hotPaths: 0, record: { reviewed: 0, faulty: 0 } };
const facts = (seq: number, more: Partial<LandingFacts> = {}): LandingFacts => ({
  seq,
  paths: ['a'],
  ...plain,
  ...more,
});
const finding = (from: number, more: Partial<Finding> = {}): Finding => ({
  severity: 'blocking',
  path: 'a',
  from,
  claim: 'c',
  evidence: 'e',
  ...more,
});

test("risk grows with size, scope breaks, hot files and the author's record, and lenses stack up with it", () => {
  expect(riskOf(plain)).toBe(0);
  const worse: Partial<typeof plain>[] = [
    { lines: 100 },
    { hotPaths: 1 },
    { breaks: true },
    { record: { reviewed: 8, faulty: 6 } },
  ];
  for (const one of worse) expect(riskOf({ ...plain, ...one })).toBeGreaterThan(0);
  // One fault is no record yet.
  expect(riskOf({ ...plain, record: { reviewed: 1, faulty: 1 } })).toBeLessThan(0.4);

  const lenses = ['a', 'b', 'c', 'd'].map((name) => lens(name));
  const looks = (more: Partial<LandingFacts>): number =>
    Array.from({ length: 500 }, (_, seq) => lensesFor('r', lenses, facts(seq, more)).length).reduce((x, y) => x + y, 0);
  const [calm, mid, high] = [looks({}), looks({ breaks: true }), looks({ breaks: true, lines: 500, hotPaths: 1 })];
  expect(calm / 2000).toBeCloseTo(0.1, 1);
  expect(mid / 2000).toBeCloseTo(0.55, 1);
  expect(high).toBe(2000);
  // The same run draws the same; a lens for other paths, or with no rate, never looks.
  expect(lensesFor('r', lenses, facts(7))).toEqual(lensesFor('r', lenses, facts(7)));
  expect(lensesFor('r', [lens('x', { rate: 1, appliesTo: ['src'] }), lens('y', { rate: 0 })], facts(1))).toEqual([]);
});

test.each([
  [[lens('A')], /small letters/],
  [[lens('a'), lens('a')], /there twice/],
  [[lens('a', { rate: 2 })], /rate 2 is not from 0 to 1/],
  [[lens('a', { sees: 'all' as never })], /sees 'all'/],
])('what is wrong with lenses is said', (lenses, says) => {
  expect(faultOfLenses(lenses)).toMatch(says);
});

test('the report counts what each lens found, what held, what it alone found, and how much lenses agree', () => {
  const ledger = new ReviewLedger();
  const cost = { nanoUsd: 10, tokens: 100 };
  const add = (seq: number, name: string, ...findings: Finding[]): void =>
    ledger.add({ seq, lens: name, findings, cost });
  add(1, 'x', finding(10));
  add(1, 'y', finding(12));
  add(2, 'x', finding(5), finding(50));
  add(2, 'y');
  add(3, 'x');
  add(3, 'y');
  add(4, 'x', finding(1));
  ledger.judge(1, finding(11), 'confirmed');
  ledger.judge(2, finding(5), 'confirmed');
  ledger.judge(2, finding(50), 'refuted');
  expect(ledger.report({ nanoUsd: 0, tokens: 2800 })).toEqual({
    lenses: [
      { lens: 'x', calls: 4, cost: { nanoUsd: 40, tokens: 400 }, findings: 4, confirmed: 2, refuted: 1, unique: 1 },
      { lens: 'y', calls: 3, cost: { nanoUsd: 30, tokens: 300 }, findings: 1, confirmed: 1, refuted: 0, unique: 0 },
    ],
    pairs: [{ lenses: ['x', 'y'], landings: 3, correlation: 0.5 }],
    cost: { nanoUsd: 70, tokens: 700 },
    shareOfWork: { tokens: 0.25, money: undefined },
  });
  expect(phiOf([])).toBeUndefined();
  expect(
    phiOf([
      [true, true],
      [false, false],
    ]),
  ).toBe(1);
  expect(
    phiOf([
      [true, false],
      [false, true],
    ]),
  ).toBe(-1);
  expect(
    phiOf([
      [true, true],
      [true, false],
    ]),
  ).toBeUndefined();
});

/** Real files of this package, each as a change that wrote its second half. */
const diffs: RealDiff[] = ['risk', 'corpus', 'score', 'review-ledger'].map((name) => {
  const after = readFileSync(new URL(`${name}.ts`, import.meta.url), 'utf8');
  const before = after.split('\n').slice(0, 20).join('\n');
  return { path: `${name}.ts`, before, after, message: name };
});

test('a corpus is real changes, every second with one defect in a line that the change wrote', () => {
  const cases = corpusOf(diffs, seededRandom(1));
  expect(corpusOf(diffs, seededRandom(1))).toEqual(cases);
  expect(cases.map(({ defect }) => defect !== undefined)).toEqual([true, false, true, false]);
  for (const [at, one] of cases.entries()) {
    const differs = one.after
      .split('\n')
      .flatMap((line, row) => (line === diffs[at]?.after.split('\n')[row] ? [] : [row + 1]));
    expect(differs).toEqual(one.defect === undefined ? [] : [one.defect.line]);
    if (one.defect === undefined) continue;
    expect(defectKinds).toContain(one.defect.kind);
    expect(one.defect.line).toBeGreaterThan(20);
    expect(pointsAt(one, finding(one.defect.line + 2, { path: one.path }))).toBe(true);
    expect(pointsAt(one, finding(one.defect.line + 9, { path: one.path }))).toBe(false);
  }
});

test('lenses are scored by what the corpus knows', () => {
  const cases = corpusOf(diffs, seededRandom(1));
  const cost = { nanoUsd: 0, tokens: 1 };
  const seer = cases.map(({ path, defect }, seq) => ({
    seq,
    lens: 'seer',
    cost,
    findings: defect === undefined ? [] : [finding(defect.line, { path })],
  }));
  const alarmist = cases.map(({ path }, seq) => ({ seq, lens: 'alarmist', cost, findings: [finding(1, { path })] }));
  const score = scoreReviews(cases, [...seer, ...alarmist], (seq) => cases[seq]);
  expect(score).toMatchObject({ cases: 4, defects: 2, found: 2 });
  expect(score.lenses).toMatchObject([
    { lens: 'alarmist', defects: 2, found: 0, falseAlarms: 4 },
    { lens: 'seer', defects: 2, found: 2, falseAlarms: 0 },
  ]);
  expect(score.report.lenses).toMatchObject([{ confirmed: 0 }, { confirmed: 2, unique: 2 }]);
});
