import type { Precondition, RecordWrite } from '../core/intent.ts';
import { parseRule } from './parse-rule.ts';
import { rulePrefix, type Rule } from './rule.ts';

/**
 * What an intent writes to set a landing rule, or to take it away (null): alone, or together with what makes it
 * necessary, as a claim with the scope that comes with it. Errors: `invalid-argument` where the rule is malformed.
 */
export function ruleRecord(name: string, rule: Rule | null, expect: Precondition): RecordWrite {
  const value = rule === null ? null : JSON.stringify(parseRule(rule));
  return { key: `${rulePrefix}${name}`, expect, value };
}
