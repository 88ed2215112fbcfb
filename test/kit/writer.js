// A writer in a process of its own: lands COUNT intents with WIDTH agents and
// writes each acknowledgement to a file before it goes on. Arguments: DIR NAME COUNT WIDTH ACK_FILE.
import { closeSync, openSync, writeSync } from 'node:fs';
import { openRepo, version } from '@mound/vcs';

const [dir, name, count, width, ackFile] = process.argv.slice(2);
const repo = await openRepo(dir);
const acks = openSync(ackFile, 'a');
let next = 0;

async function work(agent) {
  const author = { name: `${name}-${agent}`, kind: 'agent' };
  const path = `own/${name}-${agent}.txt`;
  for (;;) {
    const i = next++;
    if (i >= Number(count)) return;
    const isShared = i % 4 === 0;
    const target = isShared ? 'shared/list.txt' : path;
    const snapshot = repo.snapshot();
    const head = snapshot.head(target);
    const line = `${name}-${agent}-${i}\n`;
    const content = (snapshot.readText(target) ?? '') + line;
    const expect = head ? version(head.version) : { kind: 'absent' };
    const operationId = `${name}/${agent}/${i}`;
    const outcome = await repo.put(target, content, {
      author,
      expect,
      operationId,
      onStale: isShared ? 'reject' : 'merge',
    });
    writeSync(
      acks,
      `${JSON.stringify({ operationId, path: target, line, kind: outcome.kind, seq: outcome.seq ?? 0 })}\n`,
    );
  }
}

process.stdout.write('ready\n');
await Promise.all(Array.from({ length: Number(width) }, (_, agent) => work(agent)));
closeSync(acks);
await repo.close();
