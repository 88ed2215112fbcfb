/**
 * The storage format's version. A store of a higher version is refused with
 * `format-newer`; lower ones are read as the table says.
 *
 * | version | since      | what changed |
 * |---------|------------|--------------|
 * | 1       | 2026-11-29 | first        |
 */
export const formatVersion = 1;
