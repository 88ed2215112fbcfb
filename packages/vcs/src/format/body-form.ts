import type { Body } from './entry.ts';

const forms: readonly Body['form'][] = ['none', 'raw', 'deflate', 'delta', 'delta-deflate', 'same', 'purged'];

export const formNumberOf = (form: Body['form']): number => forms.indexOf(form);

/** Throws a `RangeError` where there is no such form. */
export function formOfNumber(number: number): Body['form'] {
  const form = forms[number];
  if (form === undefined) throw new RangeError(`a body has the unknown form ${number}`);
  return form;
}
