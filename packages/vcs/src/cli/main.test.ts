import { Command } from 'commander';
import { expect, test } from 'vitest';
import { commandModules } from './main.ts';

test('every command stands under the module that has it, and once', async () => {
  const found = await Promise.all(
    commandModules.map(async ({ load }) => {
      const program = new Command('mound');
      (await load())(program, () => undefined);
      return program.commands.map((command) => command.name());
    }),
  );
  expect(found).toEqual(commandModules.map(({ names }) => names));
  expect(new Set(found.flat()).size).toBe(found.flat().length);
});
