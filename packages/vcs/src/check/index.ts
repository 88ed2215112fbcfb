export {
  readGreen,
  type CheckView,
  type CulpritAction,
  type CulpritView,
  type GreenView,
  type HeadVerdict,
} from './check-records.ts';
export { firstBad } from './first-bad.ts';
export { keepGreen, type GreenOptions, type GreenPolicy, type GreenReport } from './keep-green.ts';
export { verdictOfCode, type CheckEnd, type CheckOptions, type CheckRunner, type CheckVerdict } from './run-check.ts';
export { trySnapshot } from './try-snapshot.ts';
export { writeSnapshot } from './write-snapshot.ts';
