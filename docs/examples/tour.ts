import { openRepo, version } from '@mound/vcs';

const repo = await openRepo(process.argv[2] ?? 'tour', { create: true });
const ada = { name: 'ada', kind: 'agent' } as const;
const bob = { name: 'bob', kind: 'agent' } as const;

// Land several files and a record as one intent: all or nothing.
const first = await repo.land({
  author: ada,
  message: 'Begin the parser',
  operationId: 'ada-1', // sent again after a crash, it answers the same again
  changes: [
    { kind: 'put', path: 'src/parser.ts', content: 'export const a = 1;\n', expect: { kind: 'absent' } },
    { kind: 'put', path: 'README.md', content: '# Parser\n', expect: { kind: 'absent' } },
  ],
  records: [{ key: 'task/parser', expect: { kind: 'absent' }, value: 'claimed by ada' }],
});
console.log('first:', first.kind);

// Read: a snapshot is a number and never changes.
const seen = repo.snapshot();
console.log('files:', seen.list().map(({ path }) => path)); // prettier-ignore
console.log('task:', seen.record('task/parser')?.value.toString());

// Two agents edit the same line, both from what they saw.
const expect = version(seen.seq);
await repo.put('src/parser.ts', 'export const a = 2;\n', { author: ada, expect });
const clash = await repo.put('src/parser.ts', 'export const a = 3;\n', { author: bob, expect });
console.log('clash:', clash.kind);

// A conflict is a value: look at its sides, then close it by accounting for each hunk.
if (clash.kind === 'conflicted') {
  const conflict = repo.conflict(clash.conflict);
  for (const { path, current, incoming } of conflict.paths) {
    console.log(path, JSON.stringify(current.content?.toString()), JSON.stringify(incoming.content?.toString()));
  }
  const resolved = await repo.resolve(clash.conflict, {
    author: { name: 'cyd', kind: 'agent', role: 'merger' },
    asOf: conflict.asOf,
    results: [{ path: 'src/parser.ts', content: 'export const a = 3;\n' }],
    otherwise: { fate: 'discarded', reason: 'bob measured it', because: { kind: 'decision', id: 'D-7' } },
  });
  console.log('resolved:', resolved.kind);
}

// Follow what happens, from any process and any cursor; here, what happened so far.
for (const event of repo.events()) console.log(event.seq, event.kind);

// A branch is a name and a number: nothing is copied.
const side = await repo.fork('experiment');
await repo.put('src/parser.ts', 'export const a = 4;\n', { author: bob, branch: side.name, expect: version(side.seq) });
console.log('main:', repo.snapshot().readText('src/parser.ts'), 'side:', repo.snapshot(undefined, side.name).readText('src/parser.ts')); // prettier-ignore
await repo.close();
