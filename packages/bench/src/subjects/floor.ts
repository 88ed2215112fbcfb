import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { hash } from 'blake3-wasm';
import { Packr } from 'msgpackr';

import { runGroups } from '../harness/measurement.ts';
import type { CommitOperation } from '../workloads/operation.ts';
import { faultsOfAcknowledged } from './acknowledged-faults.ts';
import type { PreparedSubject, Subject } from './subject.ts';

/**
 * The floor program: what no store can avoid. It hashes, encodes, copies,
 * writes to an append log and flushes, in groups of the same size, without
 * promises, checks or indexes. Mound's rates are stated as shares of its.
 */
export const floorSubject: Subject = {
  name: 'floor',
  durability: 'flushed',
  pace: 'in-flight',
  available: () => Promise.resolve(true),
  prepare: (_files, dir) => Promise.resolve(preparedFloor(join(dir, 'log'))),
};

const packr = new Packr({ useRecords: false, variableMapSize: true });
const frameHeaderBytes = 8;

type FloorRecord = readonly [
  id: string,
  agent: string,
  message: string,
  rationale: string,
  time: number,
  changes: readonly (readonly [path: string, blob: Uint8Array | null, size: number])[],
];

/** A group's bytes on their way to the log. */
class GroupBuffer {
  #bytes = Buffer.allocUnsafe(1 << 20);
  #used = 0;

  append(operation: CommitOperation): void {
    const record: FloorRecord = [
      operation.id,
      operation.agent,
      operation.message,
      operation.rationale,
      Date.now(),
      operation.changes.map(({ path, content }) =>
        content === null ? [path, null, 0] : [path, hash(content) as Buffer, content.length],
      ),
    ];
    const encoded = packr.pack(record);
    const commit = hash(encoded) as Buffer;
    const contentBytes = operation.changes.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
    this.#reserve(frameHeaderBytes + commit.length + encoded.length + contentBytes);
    this.#used = this.#bytes.writeUInt32LE(encoded.length, this.#used);
    this.#used = this.#bytes.writeUInt32LE(contentBytes, this.#used);
    this.#used += commit.copy(this.#bytes, this.#used);
    this.#used += encoded.copy(this.#bytes, this.#used);
    for (const { content } of operation.changes) this.#used += content?.copy(this.#bytes, this.#used) ?? 0;
  }

  /** The bytes so far; the next append starts anew. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#used);
    this.#used = 0;
    return taken;
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#used + bytes));
    this.#bytes.copy(larger, 0, 0, this.#used);
    this.#bytes = larger;
  }
}

function preparedFloor(path: string): PreparedSubject {
  const fd = openSync(path, 'a+');
  const buffer = new GroupBuffer();
  return {
    notes: [],
    run: (operations, options) =>
      runGroups(operations, options, (group) => {
        for (const operation of group) buffer.append(operation);
        writeSync(fd, buffer.take());
        fdatasyncSync(fd);
      }),
    verify: (acknowledged) => {
      const { ids, contents } = readLog(fd);
      return faultsOfAcknowledged(acknowledged, ids, (file) => {
        const place = contents.get(file);
        return place === undefined ? undefined : readBytes(fd, place.at, place.size);
      });
    },
    cleanup: () => Promise.resolve(closeSync(fd)),
  };
}

function readBytes(fd: number, at: number, size: number): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(size);
  return readSync(fd, bytes, 0, size, at) === size ? bytes : undefined;
}

/** Ids in the log, and where the newest content of each path lies in it. */
function readLog(fd: number): { ids: string[]; contents: Map<string, { at: number; size: number }> } {
  const ids: string[] = [];
  const contents = new Map<string, { at: number; size: number }>();
  const hashBytes = 32;
  for (let at = 0; ;) {
    const header = readBytes(fd, at, frameHeaderBytes);
    if (header === undefined) return { ids, contents };
    const encodedBytes = header.readUInt32LE(0);
    const encoded = readBytes(fd, at + frameHeaderBytes + hashBytes, encodedBytes);
    if (encoded === undefined) return { ids, contents };
    const [id, , , , , changes] = packr.unpack(encoded) as FloorRecord;
    ids.push(id);
    let contentAt = at + frameHeaderBytes + hashBytes + encodedBytes;
    for (const [path, blob, size] of changes) {
      if (blob === null) contents.delete(path);
      else contents.set(path, { at: contentAt, size });
      contentAt += size;
    }
    at = contentAt;
  }
}
