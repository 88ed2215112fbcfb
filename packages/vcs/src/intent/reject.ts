import type { Rejected, RejectionCode, StaleDetail } from '../core/outcome.ts';

export function reject(
  code: RejectionCode,
  message: string,
  next: string,
  more: { readonly paths?: readonly string[]; readonly stale?: readonly StaleDetail[] } = {},
): Rejected {
  return { kind: 'rejected', code, message, next, paths: more.paths ?? [], stale: more.stale ?? [] };
}

export const isRejected = (value: object): value is Rejected => 'kind' in value && value.kind === 'rejected';
