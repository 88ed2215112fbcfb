import { absent, openRepo, version, type DriverInput, type DriverVerdict, type MergeDriver } from '@mound/vcs';
import { driverChecks } from '@mound/vcs/conformance';

// 1. The driver: lists of words, one a line, in order. They merge as sets; by line,
// two words added at one place would be a conflict.
const wordsDriver: MergeDriver = { id: 'words', version: '1', takesAdded: true, merge };

function merge({ base, current, incoming }: DriverInput): DriverVerdict {
  const [was, mine, other] = [wordsOf(base ?? new Uint8Array(0)), wordsOf(current), wordsOf(incoming)];
  // What is no such list is not guessed at.
  if (was === undefined || mine === undefined || other === undefined) return { kind: 'conflict' };
  const isKept = (word: string) => (mine.has(word) && other.has(word)) || !was.has(word);
  const merged = [...new Set([...mine, ...other])].filter(isKept).toSorted();
  return { kind: 'clean', content: Buffer.from(merged.map((word) => `${word}\n`).join('')) };
}

function wordsOf(content: Uint8Array): Set<string> | undefined {
  const text = Buffer.from(content).toString();
  if (text !== '' && !text.endsWith('\n')) return undefined;
  const words = text.split('\n').slice(0, -1);
  const isList = words.every((word, at) => /^\S+$/.test(word) && (at === 0 || word > (words[at - 1] ?? '')));
  return isList ? new Set(words) : undefined;
}

// 2. Its checks: each throws where the driver does not do what it must.
const list = (...words: string[]) => Buffer.from(words.map((word) => `${word}\n`).join(''));
const path = 'names.words';
const samples = [
  { path, base: list('b', 'd'), current: list('a', 'b', 'd'), incoming: list('b', 'c', 'd') },
  { path, base: list('a', 'b'), current: list('a'), incoming: list('a', 'b', 'c') },
  { path, base: undefined, current: list('a'), incoming: list('b') },
];
const checks = driverChecks(wordsDriver, { path, samples });
for (const { check } of checks) check();
console.log(`${checks.length} checks passed`);

// 3. A repo that knows it; `.gitattributes` says for which paths.
const repo = await openRepo(process.argv[2] ?? 'words', { create: true, drivers: [wordsDriver] });
const author = (name: string) => ({ name, kind: 'agent' }) as const;
const put = (name: string, text: Buffer, seen: number | undefined) =>
  repo.put(path, text, { author: author(name), expect: seen === undefined ? absent : version(seen) });
await repo.put('.gitattributes', '*.words merge=words\n', { author: author('ada'), expect: absent });
const first = await put('ada', list('bee', 'dog'), undefined);
const seen = 'seq' in first ? first.seq : 0;
await put('ada', list('bee', 'cat', 'dog'), seen);
const late = await put('bob', list('ant', 'bee'), seen); // adds one, removes one
console.log(late.kind, late.kind === 'merged' ? late.merged.map(({ driver }) => driver) : '');
console.log(repo.snapshot().readText(path)?.split('\n').join(' '));
await repo.close();
