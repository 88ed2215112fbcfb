import { formatNumber } from '../harness/format-number.ts';
import type { Spread } from './chart.ts';

/** How wide a picture is drawn: one for a page, one for a narrow window, where its labels stand over its bars. */
export interface Frame {
  readonly width: number;
  readonly isNarrow: boolean;
}

export const wideFrame: Frame = { width: 760, isNarrow: false };
export const narrowFrame: Frame = { width: 360, isNarrow: true };

/** Words over as many lines as they need. */
export function linesOf(words: string, charsMax: number): string[] {
  const lines = [''];
  for (const word of words.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + 1 + word.length > charsMax) lines.push(fitted(word, charsMax));
    else lines[lines.length - 1] = last === '' ? fitted(word, charsMax) : `${last} ${word}`;
  }
  return lines;
}

/** Letters that fit, at the size of labels. */
export const charsIn = (wide: number): number => Math.floor(wide / 6.9);

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

/** Under an axis, in its middle where there is room for it. */
export function tickText({ width }: Frame, x: number, y: number, content: string): string {
  const half = content.length * 3.4;
  const anchor = x + half > width ? 'end' : x - half < 0 ? 'start' : 'middle';
  const at = anchor === 'end' ? width : anchor === 'start' ? 0 : x;
  return text(at, y, content, ` class="tick" text-anchor="${anchor}"`);
}

export const line = (x1: number, y1: number, x2: number, y2: number, name: string): string =>
  `<line class="${name}" x1="${number(x1)}" y1="${number(y1)}" x2="${number(x2)}" y2="${number(y2)}"/>`;

export const rangeOf = ({ median, min, max }: Spread): string =>
  min === max ? formatNumber(median) : `${formatNumber(median)} (${formatNumber(min)} to ${formatNumber(max)})`;

/** Arms that are worse on purpose: a bench that does not see it sees nothing. */
const isControl = (subject: string): boolean =>
  /^control|^mound-(?:slow|slowed|overwriting|spoilt|twice)$/.test(subject);

export function classOf(subject: string): string {
  if (subject === 'mound' || subject === 'all-on') return 'ours';
  if (isControl(subject)) return 'control';
  if (subject.startsWith('published')) return 'published';
  return subject.startsWith('mound') ? 'kin' : 'peer';
}

export const nameOf = (subject: string): string => (isControl(subject) ? `${subject} (control)` : subject);

/** Longer ones would run into the bars. */
export const fitted = (label: string, charsMax: number): string =>
  label.length <= charsMax ? label : `${label.slice(0, charsMax - 1)}…`;

export function svg({ width, isNarrow }: Frame, height: number, title: string, parts: readonly string[]): string {
  const label = escapedHtml(title);
  return `<svg class="${isNarrow ? 'narrow' : 'wide'}" viewBox="0 0 ${width} ${number(height)}" role="img" aria-label="${label}">${parts.join('')}</svg>`;
}

/** A range over a bar or through a point, with ends, on a light ground so that it shows on any colour. */
export function whisker(x1: number, y1: number, x2: number, y2: number): string {
  const cap = 3.5;
  const ends =
    y1 === y2
      ? [line(x1, y1 - cap, x1, y1 + cap, 'range'), line(x2, y1 - cap, x2, y1 + cap, 'range')]
      : [line(x1 - cap, y1, x1 + cap, y1, 'range'), line(x1 - cap, y2, x1 + cap, y2, 'range')];
  return [line(x1, y1, x2, y2, 'halo'), line(x1, y1, x2, y2, 'range'), ...ends].join('');
}
