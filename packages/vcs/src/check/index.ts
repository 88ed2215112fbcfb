export { readGreen, type CheckView, type CulpritAction, type CulpritView, type GreenView } from './check-records.ts';
export { firstBad } from './first-bad.ts';
export { keepGreen, type GreenOptions, type GreenPolicy, type GreenReport } from './keep-green.ts';
export { type CheckEnd, type CheckVerdict } from './run-check.ts';
export { trySnapshot } from './try-snapshot.ts';
