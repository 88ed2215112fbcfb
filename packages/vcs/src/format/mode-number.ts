import { modes, type Mode } from '../core/mode.ts';

/** 0: no file. */
export const modeNumberOf = (mode: Mode | undefined): number => (mode === undefined ? 0 : modes.indexOf(mode) + 1);
export const modeOfNumber = (number: number): Mode | undefined => (number === 0 ? undefined : modes[number - 1]);
