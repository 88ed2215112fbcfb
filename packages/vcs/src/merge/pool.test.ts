import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { build } from 'vite';
import { mergeFile } from './merge-file.ts';
import { sizeOf, type MergeInput } from './merge-input.ts';
import type { MergeResult } from './merge-result.ts';
import { MergePool } from './pool.ts';

// A thread cannot load the sources, and `dist` may be old or absent: the test compiles its own copy,
// below `node_modules` so that packages resolve from there.
const cache = fileURLToPath(new URL('../../../../node_modules/.cache/', import.meta.url));
let folder: string;
let moduleFile: string;

const source = (name: string): string => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));

beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'merge-pool-'));
  await build({
    configFile: false,
    logLevel: 'silent',
    root: folder,
    build: {
      ssr: true,
      outDir: folder,
      rollupOptions: {
        input: { 'merge-thread': source('merge-thread'), pool: source('pool') },
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: '[name].mjs' },
      },
    },
  });
  moduleFile = join(folder, 'merge-thread.mjs');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** With contents as text, which compares a thousand times faster. */
const shown = (result: MergeResult): string =>
  JSON.stringify(structuredClone(result), (_key, value: unknown) =>
    ArrayBuffer.isView(value) ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString() : value,
  );

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Three texts of some 25 KiB times `size`, as views in the middle of larger buffers. */
function inputOf(size: number, isConflict = false): MergeInput {
  const lines = Array.from({ length: 1000 * size }, (_, index) => `line ${index} of a longer text\n`);
  const state = (at: number, mark: string) => {
    const content = Buffer.concat([
      Buffer.alloc(32, 0),
      bytes(lines.with(at, `${mark}\n`).join('')),
      Buffer.alloc(32, 0),
    ]);
    return { content: content.subarray(32, content.length - 32), mode: 'file' as const };
  };
  return {
    path: 'f',
    base: state(5, 'base'),
    current: state(5, 'current'),
    incoming: state(isConflict ? 5 : 500, 'incoming'),
  };
}

describe('MergePool', () => {
  it('runs small and decided merges inline', async () => {
    const pool = new MergePool({ moduleFile });
    const small = { path: 'f', base: null, current: { content: bytes('a'), mode: 'file' as const }, incoming: null };
    expect(shown(await pool.merge(small))).toBe(shown(mergeFile(small)));
    const large = inputOf(4);
    expect(await pool.merge({ ...large, incoming: large.base })).toMatchObject({
      kind: 'clean',
      result: large.current,
    });
    expect(pool.pooled).toBe(0);
    await pool.close();
  });

  it('runs large merges in a thread, with the same result and the inputs unharmed', async () => {
    const pool = new MergePool({ moduleFile });
    for (const input of [inputOf(4), inputOf(4, true)]) {
      const copy = structuredClone(input);
      expect(shown(await pool.merge(input))).toBe(shown(mergeFile(input)));
      expect(Buffer.compare(input.base?.content ?? bytes(''), copy.base?.content ?? bytes(''))).toBe(0);
    }
    expect(pool.pooled).toBe(2);
    await pool.close();
  });

  it('takes more merges at once than its queue holds', async () => {
    const input = inputOf(1);
    const pool = new MergePool({ moduleFile, inlineBytesMax: 0, pooledBytesMax: 50 * sizeOf(input) });
    const results = await Promise.all(Array.from({ length: 200 }, () => pool.merge(input)));
    const expected = mergeFile(input);
    expect(new Set(results.map(shown))).toEqual(new Set([shown(expected)]));
    expect(pool.pooled).toBeGreaterThan(0);
    expect(pool.pooled).toBeLessThan(200);
    await pool.close();
  });

  it('lets running merges end at close, and merges inline after it', async () => {
    const pool = new MergePool({ moduleFile, inlineBytesMax: 0 });
    const running = Promise.all([pool.merge(inputOf(2)), pool.merge(inputOf(2))]);
    await pool.close();
    expect(await running).toHaveLength(2);
    expect(shown(await pool.merge(inputOf(1)))).toBe(shown(mergeFile(inputOf(1))));
    await pool.close();
    await new MergePool({ moduleFile }).close();
  });

  it('lets a process exit that never closes it', () => {
    const program = `
      import { MergePool } from ${JSON.stringify(pathToFileURL(join(folder, 'pool.mjs')).href)};
      const text = (at) => ({ mode: 'file', content: Buffer.from(Array.from({ length: 99 }, (_, i) => i === at ? 'x\\n' : i + '\\n').join('')) });
      const pool = new MergePool({ moduleFile: ${JSON.stringify(moduleFile)}, inlineBytesMax: 0 });
      const result = await pool.merge({ path: 'f', base: text(-1), current: text(5), incoming: text(50) });
      console.log(result.kind, pool.pooled);`;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect(run.stderr).toBe('');
    expect(run.stdout).toBe('clean 1\n');
    expect(run.status).toBe(0);
  });
});
