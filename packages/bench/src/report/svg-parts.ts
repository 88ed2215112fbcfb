import { formatNumber } from '../harness/format-number.ts';
import type { Spread } from './chart.ts';

export const width = 760;

export const escapedHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0) ?? 0};`);

export interface Scale {
  /** A place between 0 and 1. */
  at(value: number): number;
  readonly ticks: readonly number[];
}

export function scaleOf(values: readonly number[], isLog: boolean, fromZero: boolean): Scale {
  const top = Math.max(...values, 0);
  if (isLog) {
    const low = Math.floor(Math.log10(Math.min(...values)));
    const high = Math.max(low + 1, Math.ceil(Math.log10(top)));
    const every = Math.ceil((high - low) / 7);
    const ticks = Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, at) => 10 ** (low + at * every));
    return { at: (value) => (Math.log10(value) - low) / (high - low), ticks };
  }
  const bottom = fromZero ? 0 : Math.min(...values);
  const step = niceStep((top - bottom) / 5);
  const end = step === 0 ? 1 : Math.ceil(top / step) * step;
  const begin = step === 0 ? 0 : Math.floor(bottom / step) * step;
  const count = step === 0 ? 1 : Math.round((end - begin) / step);
  const ticks = Array.from({ length: count + 1 }, (_, at) => begin + (at * (end - begin)) / count);
  return { at: (value) => (end === begin ? 0 : (value - begin) / (end - begin)), ticks };
}

/** 1, 2 or 5 times a power of ten. */
function niceStep(raw: number): number {
  if (raw <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(raw));
  return ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10) * power;
}

export const number = (value: number): string => String(Math.round(value * 10) / 10);

export const text = (x: number, y: number, content: string, attributes = ''): string =>
  `<text x="${number(x)}" y="${number(y)}"${attributes}>${escapedHtml(content)}</text>`;

export const line = (x1: number, y1: number, x2: number, y2: number, name: string): string =>
  `<line class="${name}" x1="${number(x1)}" y1="${number(y1)}" x2="${number(x2)}" y2="${number(y2)}"/>`;

export const rangeOf = ({ median, min, max }: Spread): string =>
  min === max ? formatNumber(median) : `${formatNumber(median)} (${formatNumber(min)} to ${formatNumber(max)})`;

export const classOf = (subject: string): string =>
  subject === 'mound' ? 'ours' : subject.startsWith('mound') ? 'kin' : 'peer';

/** Longer ones would run into the bars. */
export const fitted = (label: string, charsMax: number): string =>
  label.length <= charsMax ? label : `${label.slice(0, charsMax - 1)}…`;

export function svg(height: number, title: string, parts: readonly string[]): string {
  const label = escapedHtml(title);
  return `<svg viewBox="0 0 ${width} ${number(height)}" role="img" aria-label="${label}">${parts.join('')}</svg>`;
}
