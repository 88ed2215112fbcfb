const numerals = [
  ['X', 10],
  ['IX', 9],
  ['V', 5],
  ['IV', 4],
  ['I', 1],
];

export function toRoman(number) {
  if (!Number.isInteger(number) || number < 1 || number > 39) {
    throw new RangeError('from 1 to 39');
  }
  let text = '';
  let left = number;
  for (const [numeral, value] of numerals) {
    while (left >= value) {
      text += numeral;
      left -= value;
    }
  }
  return text;
}

export function fromRoman(text) {
  let number = 0;
  let rest = text;
  for (const [numeral, value] of numerals) {
    while (rest.startsWith(numeral)) {
      number += value;
      rest = rest.slice(numeral.length);
    }
  }
  if (rest !== '') throw new RangeError('not a numeral');
  return number;
}
