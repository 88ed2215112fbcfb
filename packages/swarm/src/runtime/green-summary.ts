import { readGreen, type CheckView, type Repo } from '@mound/vcs';
import type { GreenSpan, GreenSummary } from '../core/green.ts';
import { greenCulpritOf } from './green-keeper.ts';

const spansMax = 10;

const hasPassed = ({ verdict }: CheckView): boolean => verdict === 'passed' || verdict === 'flaky';

/** Checks in equal parts of the time from `from` to `to` (ms since 1970). Pure. */
export function spansOf(checks: readonly CheckView[], from: number, to: number): GreenSpan[] {
  const decided = checks.filter(({ verdict }) => verdict !== 'skipped');
  if (decided.length === 0) return [];
  const count = Math.min(spansMax, decided.length);
  const lengthMs = Math.max(1, to - from) / count;
  return Array.from({ length: count }, (_, at): GreenSpan => {
    const own = decided.filter(({ time }) => Math.min(count - 1, Math.floor((time - from) / lengthMs)) === at);
    const passRate = own.length === 0 ? undefined : own.filter(hasPassed).length / own.length;
    const second = (ms: number): number => Math.round(ms / 10) / 100;
    return { fromSeconds: second(at * lengthMs), toSeconds: second((at + 1) * lengthMs), checks: own.length, passRate };
  });
}

/** How the build stood from `from` to `to` (ms since 1970), from the repository's records. */
export function greenSummaryOf(repo: Repo, command: string, from: number, to: number): GreenSummary {
  const { green, head, ...view } = readGreen(repo);
  const checks = view.checks.filter(({ time }) => time >= from);
  const count = (wanted: CheckView['verdict']): number => checks.filter(({ verdict }) => verdict === wanted).length;
  const [passed, failed, flaky] = [count('passed'), count('failed'), count('flaky')];
  const all = passed + failed + flaky;
  const culprits = view.culprits.filter(({ time }) => time >= from).map(greenCulpritOf);
  return {
    command,
    green,
    head,
    passed,
    failed,
    flaky,
    passRate: all === 0 ? undefined : (passed + flaky) / all,
    overTime: spansOf(checks, from, to),
    culprits: culprits.toReversed(),
  };
}

const percent = (rate: number | undefined): string => (rate === undefined ? '–' : `${Math.round(rate * 100)} %`);

/** Lines for a terminal. */
export function greenLines({ green, head, flaky, passed, failed, overTime, culprits }: GreenSummary): string[] {
  const all = passed + failed + flaky;
  const again = flaky > 0 ? `, ${flaky} of them when run again` : '';
  const over = overTime.length > 1 ? `; over time ${overTime.map(({ passRate }) => percent(passRate)).join(' ')}` : '';
  return [
    `green is ${green ?? 'unknown'}, the newest landing ${head}: ${passed + flaky} of ${all} checks passed${again}${over}`,
    ...culprits.map(({ seq, agent = 'somebody', role, model, action }) => {
      const who = [agent, role, model].filter(Boolean).join(', ');
      return `seq ${seq} by ${who} broke it; ${actionSays[action]}`;
    }),
  ];
}

const actionSays = {
  told: 'told',
  reverted: 'taken back',
  quarantined: 'taken back, whole on a branch',
  kept: 'taking it back is a conflict',
  refused: 'it could not be taken back',
} as const;
