import { openRepo, version } from '@mound/vcs';
const repo = await openRepo(process.argv[2] ?? 'demo', { create: true });
const base = await repo.put('list.txt', 'one\ntwo\nthree\n', { author: { name: 'ada', kind: 'agent' } });
const seen = version('seq' in base ? base.seq : 0); // both agents have read this version
const put = async (name: string, text: string) =>
  console.log(name, (await repo.put('list.txt', text, { author: { name, kind: 'agent' }, expect: seen })).kind);
await put('ada', 'ONE\ntwo\nthree\n');
await put('bob', 'one\ntwo\nTHREE\n'); // another line: merged
await put('bob', 'uno\ntwo\nthree\n'); // the same line: conflicted, kept whole
await repo.close();
