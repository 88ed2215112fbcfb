import { defineConfig } from 'vitest/config';
import type { Reporter, TestModule } from 'vitest/node';

// Tests import the packages' sources; children that they start run the build.
const conditions = ['@mound/source', 'node', 'import', 'default'];

/** Ends the output with the counts alone on a line, for machines. */
const counts: Reporter = {
  onTestRunEnd(modules: readonly TestModule[]) {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length;
    const line = `${count('passed')} passed, ${count('failed') + brokenFiles} failed, ${count('skipped')} skipped`;
    process.once('exit', () => process.stdout.write(`${line}\n`));
  },
};

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    pool: 'forks',
    reporters: ['default', counts],
  },
});
