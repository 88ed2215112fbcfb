import { renderInteger, renderReal, renderText, textOfReal } from '../render.ts';

/** A value as a JavaScript binding gives it, as the column's type wants it. */
export function renderTyped(value: unknown, type: string): string {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'boolean') return type === 'T' ? String(value) : renderTyped(Number(value), type);
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (type === 'I') return renderInteger(value);
    if (type === 'R') return renderReal(value);
    return typeof value === 'number' && !Number.isInteger(value) ? textOfReal(value) : String(value);
  }
  if (value instanceof Uint8Array) return renderText(value);
  const text = typeof value === 'string' ? value : value instanceof Date ? value.toISOString() : textOfObject(value);
  if (type === 'I') return renderInteger(text);
  return type === 'R' ? renderReal(text) : renderText(text);
}

/** Decimals, dates and the like come as objects that know their text. */
function textOfObject(value: unknown): string {
  const text = String(value);
  return text === '[object Object]' ? JSON.stringify(value) : text;
}
