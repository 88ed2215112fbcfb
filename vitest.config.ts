import { defineConfig } from 'vitest/config';
import { BaseSequencer, type Reporter, type TestModule, type TestSpecification } from 'vitest/node';

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

/** What takes longest: it begins first, so that no file runs on alone when the others are done. */
const longest = [
  'test/crash-sweep.test.ts',
  'packages/vcs/src/git/round-trip.test.ts',
  'test/main-job.test.ts',
  'test/cli.test.ts',
  'packages/vcs/src/git/incremental.test.ts',
  'test/swarm-commands.test.ts',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
      return at < 0 ? longest.length : at;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's own, by size or by what files took before
    const sorted = await super.sort(files);
    return sorted.toSorted((left, right) => rank(left) - rank(right));
  }
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    testTimeout: 120_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    pool: 'forks',
    setupFiles: ['test/kit/every-file.ts'],
    reporters: ['default', counts],
    sequence: { sequencer: LongestFirst },
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    // Files share their modules: to load these anew for each takes longer than the tests of most.
    isolate: false,
  },
});
