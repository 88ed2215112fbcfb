/** A line that starts as a marker that git writes: seven signs, then a label or nothing. */
const markerPattern = /^(?:={7}\s*|(?:<{7}|>{7}|\|{7})(?:\s.*)?)$/;

/**
 * Numbers (from 1) of the lines of a resolution that look like conflict markers
 * and were not there before: of each such text the resolution holds more than
 * every input does. Inputs that hold marker-like lines (an underlined heading, a
 * page about conflicts) so pass, a half-resolved file does not. Given base,
 * current and incoming, in this order, both sides may have added such a line.
 */
export function addedMarkers(result: Uint8Array, inputs: readonly Uint8Array[]): number[] {
  const counted = inputs.map((input) => countsOf(markersOf(input)));
  const found = markersOf(result);
  const counts = countsOf(found);
  return found
    .filter(({ text }) => (counts.get(text) ?? 0) > allowed(counted.map((count) => count.get(text) ?? 0)))
    .map(({ line }) => line);
}

function allowed(counts: readonly number[]): number {
  const most = Math.max(0, ...counts);
  if (counts.length !== 3) return most;
  const [base, current, incoming] = counts as [number, number, number];
  return Math.max(most, current + incoming - base);
}

interface Marker {
  readonly line: number;
  readonly text: string;
}

/** Read as Latin-1, so that every content has lines; the signs are ASCII. */
function markersOf(content: Uint8Array): Marker[] {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('latin1');
  return text
    .split('\n')
    .map((line, index) => ({ line: index + 1, text: line.trimEnd() }))
    .filter((marker) => markerPattern.test(marker.text));
}

function countsOf(markers: readonly Marker[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of markers) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
