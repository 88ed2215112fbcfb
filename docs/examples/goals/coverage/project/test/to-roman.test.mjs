import assert from 'node:assert';
import test from 'node:test';
import { toRoman } from '../src/roman.mjs';

void test('nine is IX', () => assert.equal(toRoman(9), 'IX'));
