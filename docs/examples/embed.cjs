const { openRepo, version } = require('@mound/vcs');

void (async () => {
  const repo = await openRepo(process.argv[2] ?? 'demo', { create: true });
  const base = await repo.put('list.txt', 'one\ntwo\nthree\n', { author: { name: 'ada', kind: 'agent' } });
  const expect = version(base.seq);
  const put = async (name, text) =>
    console.log(name, (await repo.put('list.txt', text, { author: { name, kind: 'agent' }, expect })).kind);
  await put('ada', 'ONE\ntwo\nthree\n');
  await put('bob', 'one\ntwo\nTHREE\n');
  await put('bob', 'uno\ntwo\nthree\n');
  await repo.close();
})();
