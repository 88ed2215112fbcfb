import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import type { RepoPath } from '../core/ids.ts';
import { isMoundError } from '../core/errors.ts';
import { readDiskFile } from './disk-read.ts';

/** Appends to a file without a pause until it is told to stop. */
const appender = `
const { writeSync, openSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
const told = new Int32Array(workerData.told);
const handle = openSync(workerData.file, 'a');
writeSync(handle, 'x');
parentPort.postMessage('begun');
while (Atomics.load(told, 0) === 0) writeSync(handle, 'x');
`;

test('a file that changes while it is read is named, and never taken in part', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'mound-read-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'large');
  writeFileSync(file, Buffer.alloc(32 * 1024 * 1024, 'x'));
  const told = new SharedArrayBuffer(4);
  const worker = new Worker(appender, { eval: true, workerData: { file, told } });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  await new Promise((resolve) => worker.once('message', resolve));
  // Between two looks at a file that somebody appends to, most of the time something was appended.
  let fault: unknown;
  for (let tries = 0; tries < 200 && fault === undefined; tries++) {
    try {
      const found = readDiskFile(file, 'large' as RepoPath);
      expect(found?.content.length).toBe(found?.stat.size);
    } catch (error) {
      fault = error;
    }
  }
  Atomics.store(new Int32Array(told), 0, 1);
  await ended;
  expect(isMoundError(fault, 'file-changing')).toBe(true);
  expect(String(fault)).toContain('large changes while it is read');
  expect(readDiskFile(file, 'large' as RepoPath)?.content.equals(readFileSync(file))).toBe(true);
});

/** Links a file and drops the link without a pause until it is told to stop. */
const linker = `
const { linkSync, rmSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
const told = new Int32Array(workerData.told);
linkSync(workerData.file, workerData.file + '-kept');
parentPort.postMessage('begun');
while (Atomics.load(told, 0) === 0) {
  linkSync(workerData.file, workerData.file + '-more');
  rmSync(workerData.file + '-more');
}
`;

test('a file that others link while it is read does not change', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'mound-read-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'linked');
  writeFileSync(file, Buffer.alloc(8 * 1024 * 1024, 'x'));
  const told = new SharedArrayBuffer(4);
  const worker = new Worker(linker, { eval: true, workerData: { file, told } });
  const ended = new Promise((resolve) => worker.once('exit', resolve));
  await new Promise((resolve) => worker.once('message', resolve));
  try {
    for (let tries = 0; tries < 20; tries++) {
      expect(readDiskFile(file, 'linked' as RepoPath)?.content.length).toBe(8 * 1024 * 1024);
    }
  } finally {
    Atomics.store(new Int32Array(told), 0, 1);
    await ended;
  }
});

test('a symlink is its target, and what is neither file nor link is nothing', () => {
  const dir = mkdtempSync(join(tmpdir(), 'mound-read-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  symlinkSync('/etc/passwd', join(dir, 'link'));
  expect(readDiskFile(join(dir, 'link'), 'link' as RepoPath)?.content.toString()).toBe('/etc/passwd');
  expect(readDiskFile(dir, 'dir' as RepoPath)).toBeUndefined();
  expect(readDiskFile(join(dir, 'none'), 'none' as RepoPath)).toBeUndefined();
});
