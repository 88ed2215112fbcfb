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

/** Then the files that share no modules with others, last those that do: a worker that meets both begins anew. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const at = longest.findIndex((path) => moduleId.endsWith(`/${path}`));
      if (at >= 0) return at;
      return project.config.isolate ? longest.length : longest.length + 1;
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
    projects: [
      // Files share their modules: to load these anew for each takes longer than the tests of most.
      { extends: true, test: { name: 'units', include: ['packages/{vcs,swarm}/src/**/*.test.ts'], isolate: false } },
      { extends: true, test: { name: 'whole', include: ['packages/bench/src/**/*.test.ts', 'test/**/*.test.ts'] } },
    ],
  },
});
