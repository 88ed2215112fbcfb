import { expect, test } from 'vitest';
import { survivalOf } from './survival.ts';

test('lines that a side added are counted where the result has them, however often the base had them', () => {
  expect(survivalOf('a\nb\n', 'a\nx\ny\nb\n', 'a\ny\nb\n')).toEqual({ lines: 2, survived: 1 });
  // A brace more than the base has is one line, and the brace of the base does not stand for it.
  expect(survivalOf('}\n', '}\n}\n', '}\n')).toEqual({ lines: 1, survived: 0 });
  expect(survivalOf('}\n', '}\n}\n', '}\nx\n}\n')).toEqual({ lines: 1, survived: 1 });
  expect(survivalOf('', '', 'x')).toEqual({ lines: 0, survived: 0 });
  expect(survivalOf('a\n', '', 'a\n')).toEqual({ lines: 0, survived: 0 });
  expect(survivalOf('a\n', 'b  \n\n\n', 'b\n')).toEqual({ lines: 1, survived: 1 });
});
