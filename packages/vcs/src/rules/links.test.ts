import { expect, test } from 'vitest';
import { fileLinksOf } from './links.ts';

test('links to files of the repo are found, from where the file stands', () => {
  const text = [
    '- [a](a.md), [b](../src/b.ts#L3 "title") and [c](<./sub/c.md>)',
    '[web](https://example.com/x.md) [mail](mailto:a@b) [here](#part) `[code](no.md)`',
    '```',
    '[code](no.md)',
    '```',
    '[ref]: /docs/d.md',
    'an ![image](pic%20one.png), [out](../../x)',
  ].join('\n');
  expect(fileLinksOf('field-guide/index.md', text).map(({ line, path }) => `${line} ${path}`)).toEqual([
    '1 field-guide/a.md',
    '1 src/b.ts',
    '1 field-guide/sub/c.md',
    '6 docs/d.md',
    '7 field-guide/pic one.png',
    '7 ../../x',
  ]);
});
