import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { porterStem } from './stem.ts';
import { overlaps } from './topic.ts';

test.each([
  ['error codes', 'Error Codes'],
  ['error codes', 'error-code'],
  ['errorCodes', 'ERROR_CODE'],
  ['error handling', 'handling of errors'],
  ['error handling', 'how errors are handled'],
  ['SQL parser', 'parsing SQL'],
  ['compiler', 'compilation'],
  ['tokenizer', 'tokenising'],
  ['naming of tables', 'table names'],
  ['colour scheme', 'color schemes'],
  ['normalisation of paths', 'path normalization'],
  ['lockfile', 'lock files'],
  ['filename format', 'format of file names'],
  ['database schema', 'DB schema'],
  ['config format', 'the format of the configuration'],
  ['user tables', 'tables of users'],
  ['retries', 'retry'],
  ['caches', 'caching'],
  ['HTTPServer', 'http server'],
  ['storage format', 'on-disk storage format of indexes'],
  ['error codes', 'error codes of the parser'],
  ['dependencies', 'dependency'],
  ['Größe der Seiten', 'große größe der seiten'],
  ['日本語', '日本語'],
  ['the', 'The'],
])('%j and %j are one topic', (left, right) => {
  expect(overlaps(left, right)).toBe(true);
  expect(overlaps(right, left)).toBe(true);
});

test.each([
  ['error codes', 'error messages'],
  ['SQL parser', 'SQL executor'],
  ['parser error codes', 'executor error codes'],
  ['page size', 'page cache'],
  ['cache size', 'page size'],
  ['table names', 'column names'],
  ['log format', 'logging of errors'],
  ['general settings', 'settings generator'],
  ['policies', 'police'],
  ['read path', 'write path'],
  ['index pages', 'data pages'],
  ['tests', 'texts'],
  ['organ registry', 'organization registry'],
  ['universal types', 'university types'],
  ['authentication', 'authorization'],
  ['v1 API', 'v2 API'],
  ['日本語', '日本'],
  ['', 'anything'],
])('%j and %j are two topics', (left, right) => {
  expect(overlaps(left, right)).toBe(false);
  expect(overlaps(right, left)).toBe(false);
});

test('every topic overlaps itself and whatever only adds to it', () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/).map((text) => `k${text}`);
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), word, (words, more) => {
      const topic = words.join(' ');
      expect(overlaps(topic, topic.toUpperCase())).toBe(true);
      expect(overlaps(words.toReversed().join('-'), topic)).toBe(true);
      expect(overlaps(topic, `${more} ${topic}`)).toBe(true);
    }),
  );
});

// Cases of every step of the algorithm as its author published it.
test.each(
  Object.entries({
    caresses: 'caress',
    ponies: 'poni',
    cats: 'cat',
    feed: 'feed',
    agreed: 'agre',
    plastered: 'plaster',
    motoring: 'motor',
    conflated: 'conflat',
    hopping: 'hop',
    falling: 'fall',
    filing: 'file',
    happy: 'happi',
    sky: 'sky',
    relational: 'relat',
    conditional: 'condit',
    digitizer: 'digit',
    operator: 'oper',
    feudalism: 'feudal',
    sensibiliti: 'sensibl',
    triplicate: 'triplic',
    electrical: 'electr',
    goodness: 'good',
    revival: 'reviv',
    allowance: 'allow',
    adjustment: 'adjust',
    adoption: 'adopt',
    probate: 'probat',
    rate: 'rate',
    cease: 'ceas',
    controll: 'control',
    roll: 'roll',
  }),
)('the stem of %s is %s', (word, stem) => {
  expect(porterStem(word)).toBe(stem);
});
