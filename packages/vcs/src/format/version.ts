/**
 * The storage format's version. A store of a higher version is refused with
 * `format-newer`; lower ones are read as the table says, and the first transaction that writes makes them this one.
 *
 * | version | since      | what changed |
 * |---------|------------|--------------|
 * | 1       | 2026-11-29 | first        |
 * | 2       | 2026-11-30 | kept intents hold contents as a landing stores them; bodies of wide landings stand on shelves |
 */
export const formatVersion = 2;
