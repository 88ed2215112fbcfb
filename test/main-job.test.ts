import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectDir, run, type Finished } from './kit/process.ts';
import { tempDir } from './kit/temp.ts';

const bin = (name: string): string => join(projectDir, 'packages/bench/bin', name);
/** Where no checkout is, so that a history is generated however long this project's own has become. */
const history = (args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Finished> =>
  run(process.execPath, [bin('history.js'), ...args], { env, cwd: tempDir() });

interface Summary {
  readonly [key: string]: unknown;
  readonly events: Readonly<Record<string, number>>;
  readonly peers: readonly { readonly subject: string; readonly commitsPerSecond: number }[];
  readonly latencyMs: { readonly p50: number; readonly p99: number };
}

describe('npm start on a generated history', () => {
  test('lands it whole, proves it with plain git, and reaches blake3-wasm and piscina', async () => {
    const probe = join(tempDir(), 'probe');
    const env = {
      ...process.env,
      MOUND_PROBE: probe,
      NODE_OPTIONS: `--require ${join(projectDir, 'test/kit/probe.cjs')}`,
    };
    const finished = await history(['--json', '--commits', '96', '--agents', '24', '--window', '32'], env);
    expect(finished.stderr).toBe('');
    expect(finished.code).toBe(0);
    const file = join(tempDir(), 'result.json');
    writeFileSync(file, finished.stdout);
    const report = await run(process.execPath, [bin('mound-bench.js'), 'report', file]);
    expect(report).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('git-plumbing') });
    const summary = JSON.parse(finished.stdout) as Summary;
    expect(summary).toMatchObject({
      input: { kind: 'generated', commits: 96, window: 32 },
      agents: 24,
      windows: 3,
      lost: 0,
      treeIdentical: true,
      exportFsckClean: true,
      controlShows: true,
      faults: [],
    });
    // Real concurrency: workers of one window start from one snapshot and meet on the hot files.
    for (const field of ['landed', 'merged', 'conflicted', 'resolved', 'resolvedFromRecord', 'staleAtLanding']) {
      expect(summary[field], field).toBeGreaterThan(0);
    }
    // By a merger, or by themselves, where their sides had become one.
    expect(summary.events['conflict.resolved']).toBe(summary['conflicted']);
    expect(summary['resolved']).toBeLessThanOrEqual(Number(summary['conflicted']));
    expect(summary.events).toMatchObject({ 'intent.landed': expect.any(Number), 'file.flagged': expect.any(Number) });
    expect(summary.latencyMs.p99).toBeGreaterThanOrEqual(summary.latencyMs.p50);
    expect(summary.peers.map(({ subject }) => subject).toSorted()).toEqual(['git-plumbing', 'git-porcelain']);

    const [parent = ''] = readdirSync(join(probe, '..')).filter((name) => name.startsWith('probe.'));
    expect(parent).not.toBe('');
    const counts = readdirSync(join(probe, '..'))
      .map((name) => JSON.parse(readFileSync(join(probe, '..', name), 'utf8')) as { hashes: number; pooled: number })
      .reduce((sum, { hashes, pooled }) => ({ hashes: sum.hashes + hashes, pooled: sum.pooled + pooled }));
    expect(counts.hashes).toBeGreaterThan(96);
    expect(counts.pooled).toBeGreaterThan(0);
  });

  test('--no-record leaves conflicts open and still loses nothing', async () => {
    const finished = await history([
      '--json',
      '--commits',
      '64',
      '--agents',
      '16',
      '--window',
      '32',
      '--no-record',
      '--no-peers',
    ]);
    expect(finished.code).toBe(0);
    const summary = JSON.parse(finished.stdout) as Summary;
    expect(summary).toMatchObject({ lost: 0, resolved: 0, corrections: 0, exportFsckClean: true, peers: [] });
    expect(summary['conflicted']).toBeGreaterThan(0);
  });
});

describe('the proof', () => {
  test('fails when one landed intent is taken out of the export, and when its bytes are changed', async () => {
    const dir = tempDir();
    const made = await history([
      '--json',
      '--commits',
      '40',
      '--agents',
      '8',
      '--window',
      '20',
      '--no-peers',
      '--keep',
      dir,
    ]);
    expect(made.code).toBe(0);
    const exported = join(dir, 'export.git');
    const git = async (...args: string[]): Promise<string> => {
      const finished = await run('git', ['-C', exported, ...args]);
      expect(finished.code, finished.stderr).toBe(0);
      return finished.stdout.trim();
    };
    const source = join(dir, 'generated.git');
    const commit = (await run('git', ['-C', source, 'rev-parse', 'HEAD'])).stdout.trim();
    const request = {
      acknowledgements: join(dir, 'acknowledgements'),
      repo: join(dir, 'repo'),
      exported,
      source,
      commit,
    };
    const verify = async (): Promise<{ code: number | null; found: Record<string, unknown> }> => {
      const finished = await run(process.execPath, [bin('verify-history.js'), JSON.stringify(request)]);
      return { code: finished.code, found: JSON.parse(finished.stdout) as Record<string, unknown> };
    };
    expect(await verify()).toMatchObject({ code: 0, found: { lost: 0, treeIdentical: true } });

    // Plain git hides one commit of the middle: the tree at the tip stays the same.
    await git('replace', '--graft', 'main~5', 'main~7');
    expect(await verify()).toMatchObject({ code: 1, found: { lost: 1, treeIdentical: true } });
    await git('replace', '-d', await git('rev-parse', 'main~5'));

    // A blob of an acknowledged landing reads as other bytes.
    const [path = ''] = (await git('diff-tree', '--no-commit-id', '--name-only', '-r', 'main~5')).split('\n');
    const blob = await git('rev-parse', `main~5:${path}`);
    const other = (
      await run('git', ['-C', exported, 'hash-object', '-w', '--stdin'], { input: 'other bytes' })
    ).stdout.trim();
    await git('replace', blob, other);
    const forged = await verify();
    expect(forged).toMatchObject({ code: 1 });
    expect(forged.found['lost']).toBeGreaterThan(0);
    await git('replace', '-d', blob);

    const tree = await git('rev-parse', 'main~9^{tree}');
    const tip = await git(
      '-c', 'user.name=x', '-c', 'user.email=x@example.invalid', 'commit-tree', tree, '-p', 'main', '-m', 'x',
    ); // prettier-ignore
    await git('update-ref', 'refs/heads/main', tip);
    expect(await verify()).toMatchObject({ code: 1, found: { lost: 0, treeIdentical: false } });
  });
});

describe('bad input', () => {
  test.each([
    ['an unknown option', ['--nope'], 2],
    ['a number that is none', ['--agents', 'many'], 2],
    ['a repository that is none', ['--repo', '/etc'], 42],
    ['a repository that is not there', ['--repo', '/nonexistent'], 42],
  ])('%s', async (_name, args, code) => {
    const finished = await history(args);
    expect(finished).toMatchObject({ code, stdout: '' });
    expect(finished.stderr).toMatch(/^mound bench: [^\n]+\n$/);
  });
});
