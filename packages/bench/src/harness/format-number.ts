/** Three significant digits below 100, whole numbers with commas above. What is less than all is never rounded to it. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '-';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  const short = Number(value.toPrecision(3));
  return String(short === 1 && value < 1 ? Math.floor(value * 1e6) / 1e6 : short);
}

/** A share of 1 as a percentage. 100 % is said of all and of nothing less. */
export function percentText(share: number, digits = 1): string {
  const scale = 10 ** digits;
  const percent = Math.round(share * 100 * scale) / scale;
  return `${percent === 100 && share < 1 ? Math.round(100 * scale - 1) / scale : percent} %`;
}
