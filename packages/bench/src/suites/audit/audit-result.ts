import type { AuditControl, AuditResult, CheckReport, Finding } from '../../audit/index.ts';
import { sampleOf, type EvidenceTable, type Sample } from '../../harness/result-file.ts';

/** More are counted, not shown. */
const rowsMax = 200;

const titles: Readonly<Record<string, string>> = {
  corpus: 'Strings of the corpus',
  tests: 'Tests that were taken away',
  'hard-coded': 'Answers that were written down',
  network: 'Ways to a network',
  dependencies: 'Dependencies',
  categories: 'Score by kind of test',
};

const countOf = ({ findings }: CheckReport, weight: Finding['weight']): number =>
  findings.filter((finding) => finding.weight === weight).length;

/** In one word, whether a person has to look. */
function verdictOf(report: CheckReport): string {
  const count = countOf(report, 'finding');
  if (count > 0) return `${count} to look at`;
  return report.looked === '' ? 'not looked at' : report.skipped === undefined ? 'nothing found' : 'looked at in part';
}

function summaryTable({ checks }: AuditResult): EvidenceTable {
  return {
    title: 'What was looked for',
    caption: 'A finding is a place for a person to look at, not a verdict',
    headers: ['check', 'outcome', 'notes', 'looked at', 'not looked at'],
    rows: checks.map((report) => [
      titles[report.check] ?? report.check,
      verdictOf(report),
      String(countOf(report, 'note')),
      report.looked,
      report.skipped ?? '',
    ]),
  };
}

const standing = (isThere: boolean | undefined): string => (isThere === undefined ? '' : isThere ? 'yes' : 'no');

const columns = ['weight', 'what', 'where', 'words', 'seq', 'who', 'still there'];

const cellsOf = ({ weight, what, place, evidence, seq, who, isThere }: Finding): string[] => [
  weight,
  what,
  place,
  evidence,
  seq === undefined ? '' : String(seq),
  who ?? '',
  standing(isThere),
];

function evidenceTable(report: CheckReport): EvidenceTable[] {
  const { check, rule, findings } = report;
  if (findings.length === 0) return [];
  const inOrder = findings.toSorted((a, b) => Number(a.weight === 'note') - Number(b.weight === 'note'));
  const left = findings.length - rowsMax;
  const rows = inOrder.slice(0, rowsMax).map(cellsOf);
  const isTold = columns.map((_, at) => rows.some((row) => row[at] !== ''));
  const told = (cells: readonly string[]): string[] => cells.filter((_, at) => isTold[at]);
  const caption = left > 0 ? `${rule}. ${left} more are not shown` : rule;
  return [{ title: titles[check] ?? check, caption, headers: told(columns), rows: rows.map(told) }];
}

export const auditTables = (result: AuditResult): EvidenceTable[] => [
  summaryTable(result),
  ...result.checks.flatMap(evidenceTable),
];

export const auditSamples = (subject: string, { checks }: AuditResult): Sample[] =>
  checks.flatMap((report) => {
    const workload = { workload: 'audit', check: report.check };
    return [
      sampleOf(subject, workload, 'findings', [countOf(report, 'finding')]),
      sampleOf(subject, workload, 'findingsNoted', [countOf(report, 'note')]),
    ];
  });

export const auditNotes = ({ run, commits, checks }: AuditResult): string[] => [
  `${commits} commits of ${run === undefined ? 'the repository' : `run ${run}`}`,
  ...checks.map((report) => {
    const { check, skipped } = report;
    return `${check}: ${verdictOf(report)}${skipped === undefined ? '' : ` (${skipped})`}`;
  }),
];

export const hasFindings = ({ checks }: AuditResult): boolean =>
  checks.some((report) => countOf(report, 'finding') > 0);

export const isBlind = ({ missed, alarms }: AuditControl): boolean => missed.length > 0 || alarms.length > 0;

export function controlNote(control: AuditControl): string {
  const { missed, alarms } = control;
  if (!isBlind(control))
    return 'control: in a repository that cheats in each of these ways each is found, in an honest one none';
  const told = [
    ...missed.map((check) => `${check} is not found where it was planted`),
    ...alarms.map((check) => `${check} is found where nothing is`),
  ];
  return `FAULT: control: ${told.join('; ')}: trust nothing here`;
}
