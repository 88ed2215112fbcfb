/**
 * How a value of an engine becomes a line of a result. As SQLite's own
 * conversions do, whichever engine the value comes from.
 */

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);

/** An integer column: cast to a 64-bit integer toward zero, of which the low 32 bits count. */
export function renderInteger(value: number | bigint | string): string {
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= -0x8000_0000 && value <= 0x7fff_ffff) return String(value | 0);
    if (Number.isNaN(value)) return '0';
    if (!Number.isFinite(value)) return renderInteger(value > 0 ? maxInt64 : minInt64);
    return renderInteger(BigInt(Math.trunc(value)));
  }
  if (typeof value === 'string') return renderInteger(BigInt(/^\s*([+-]?\d+)/.exec(value)?.[1]?.replace('+', '') ?? 0));
  const clamped = value > maxInt64 ? maxInt64 : value < minInt64 ? minInt64 : value;
  return String(BigInt.asIntN(32, clamped));
}

/** From here on three decimals would be more than 16 significant digits; zeros stand for those beyond. */
const exactBelow = 1e13;

/** A real column: three decimals, at most 16 significant digits. */
export function renderReal(value: number | bigint | string): string {
  const real = typeof value === 'string' ? realOfText(value) : Number(value);
  if (Number.isNaN(real)) return 'NULL';
  if (!Number.isFinite(real)) return real > 0 ? 'Inf' : '-Inf';
  if (Object.is(real, -0)) return '0.000';
  if (Math.abs(real) < exactBelow) return real.toFixed(3);
  const [mantissa = '', exponent = '0'] = Math.abs(real).toExponential(15).split('e');
  const pointAt = Number(exponent) + 1;
  const digits = mantissa.replace('.', '').padEnd(pointAt + 3, '0');
  return `${real < 0 ? '-' : ''}${digits.slice(0, pointAt)}.${digits.slice(pointAt, pointAt + 3)}`;
}

/** The number that a text begins with; 0 where it begins with none. */
const realOfText = (text: string): number => {
  const found = /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/i.exec(text);
  return found ? Number(found[0]) : 0;
};

const printable = /^[\x20-\x7e]+$/;

/** A text column: every byte that is not printable ASCII becomes `@`, and a zero ends it, as in the suite's runner. */
export function renderText(text: string | Uint8Array): string {
  if (typeof text === 'string' && printable.test(text)) return text;
  let rendered = '';
  for (const byte of typeof text === 'string' ? Buffer.from(text, 'utf8') : text) {
    if (byte === 0) break;
    rendered += byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '@';
  }
  return rendered === '' ? '(empty)' : rendered;
}

/** A real number as text: always with a point; with an exponent below 0.0001 and from 1e17 on. */
export function textOfReal(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? '' : value > 0 ? 'Inf' : '-Inf';
  if (value === 0) return '0.0';
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent <= 16) {
    const plain = exponent < 0 ? value.toFixed(mantissa.replace(/[-.]/g, '').length - 1 - exponent) : String(value);
    return plain.includes('.') ? plain : `${plain}.0`;
  }
  const sign = exponent < 0 ? '-' : '+';
  const digits = mantissa.includes('.') ? mantissa : `${mantissa}.0`;
  return `${digits}e${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
