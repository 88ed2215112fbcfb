import { describe, expect, it } from 'vitest';
import { mergeLines } from './three-way.ts';

const lines = (text: string): string[] => Array.from(text, (letter) => `${letter}\n`);
const kinds = (base: string, current: string, incoming: string): string[] =>
  mergeLines(lines(base), lines(current), lines(incoming)).map((region) => region.kind);

describe('a clean merge with two right answers', () => {
  it('is a conflict where a change could stand at two places', () => {
    // `b` into the run of a, next to the deleted one or away from it.
    expect(kinds('cacaab', 'cacbaaabc', 'cacacab')).toContain('conflict');
    expect(kinds('cacaab', 'cacacab', 'cacbaaabc')).toContain('conflict');
  });

  it('is in conflict only from the one place to the other', () => {
    expect(kinds('pqrdbbbbaaaadbccstu', 'Pqrbbbaaaadccstu', 'pqrdbbdbbaaeadbccstU')).toEqual([
      'current',
      'stable',
      'conflict',
      'stable',
      'incoming',
    ]);
  });

  it('stays clean where diff3 alone is wrong: it loses a line', () => {
    expect(kinds('ab', 'abb', 'bb')).not.toContain('conflict');
  });

  it('stays clean where only one place is right', () => {
    expect(kinds('abcdefgh', 'aXbcdefgh', 'abcdefgYh')).toEqual(['stable', 'current', 'stable', 'incoming', 'stable']);
  });
});
