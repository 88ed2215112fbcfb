export { auditControl, type AuditControl } from './control.ts';
export { audit, type AuditOptions, type AuditResult } from './audit.ts';
export { dependencyNames, isListed, ownNames } from './dependency-names.ts';
export type { CheckReport, Finding } from './finding.ts';
export { leakCheck, type LeakOptions } from './leak-check.ts';
