import type { Rejected, RejectionCode, StaleDetail } from '../core/outcome.ts';

export function reject(
  code: RejectionCode,
  message: string,
  next: string,
  more: { readonly paths?: readonly string[]; readonly stale?: readonly StaleDetail[]; readonly rule?: string } = {},
): Rejected {
  const { paths = [], stale = [], rule } = more;
  return { kind: 'rejected', code, message, next, paths, stale, ...(rule !== undefined && { rule }) };
}

export const isRejected = (value: object): value is Rejected => 'kind' in value && value.kind === 'rejected';
