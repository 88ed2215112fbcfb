// One pass over everything that writes, in a fixed order and with fixed contents. Every intent has an operation id
// and every other act asks first whether it was done: run again from its start after a death at any point, it must
// end where a run that nobody killed ends.
import { createCipheriv } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { absent, addWorkspace, any, isMoundError, openRepo, openWorkspace, removeWorkspace, version } from '@mound/vcs';

const author = { name: 'ada', kind: 'agent' };
const act = { author, reason: 'split' };
const lines = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
const edited = (at, text) => lines.with(at, `${text}\n`).join('');
const put = (path, content, expect = absent) => ({ kind: 'put', path, content, expect });
/** A driver of the program's own, which is not asked while others wait: the lines of both sides, in one order whoever comes first. */
const union = (current, incoming) =>
  [
    ...new Set(
      [current, incoming].flatMap((side) =>
        Buffer.from(side)
          .toString()
          .split(/(?<=\n)/),
      ),
    ),
  ]
    .toSorted()
    .join('');
const sorted = {
  id: 'sorted',
  version: '1',
  merge: ({ current, incoming }) => ({ kind: 'clean', content: Buffer.from(union(current, incoming)) }),
};
/** Bytes that neither deflate nor delta makes smaller. */
const noise = (size) => createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16)).update(Buffer.alloc(size));

/**
 * `note` is called before each intent with its id and paths, and again with its
 * outcome before anything else is done; `look` at the end, while the repository is open.
 */
export async function runScenario(dir, options = {}, note = () => undefined, look = (_repo) => undefined) {
  const repo = await openRepo(dir, { create: true, drivers: [sorted], ...options });
  const told = async (id, paths, call) => {
    note({ id, paths });
    const outcome = await call({ author, message: id, operationId: id });
    note({ id, kind: outcome.kind, seq: outcome.seq });
    return outcome;
  };
  // A path that a move leaves is changed with the one that it leads to.
  const pathsOf = ({ changes = [] }) => changes.map(({ path, to }) => to ?? path);
  const land = (id, intent, paths = pathsOf(intent)) =>
    told(id, paths, (common) => repo.land({ ...common, ...intent }));
  try {
    const { seq: base } = await land('base', {
      changes: ['a', 'b', 'src/c', 'src/d', 'f', 'm'].map((path) => put(path, lines.join(''))),
      records: [{ key: 'task/1', expect: absent, value: 'open' }],
    });
    // Stale against one another, on a file that landed just now: merged inside.
    await Promise.all(
      [0, 5, 10, 15, 20, 25, 30, 35].map((at) =>
        land(`slot-${at}`, { changes: [put('a', edited(at, `slot ${at}`), version(base))] }),
      ),
    );
    // Merged outside.
    const { seq: own } = await land('attributes', {
      changes: [put('.gitattributes', 'n merge=sorted\nheld merge=sorted\n'), put('n', 'n\n'), put('held', 'held\n')],
    });
    await land('n-one', { changes: [put('n', 'one\n', version(own))] });
    await land('n-two', { changes: [put('n', 'two\n', version(own))] });
    // Asked for at once and merged outside at once, over and over: the last is overtaken so often that its path is held.
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) =>
        land(`held-${name}`, { changes: [put('held', `held\n${name}\n`, version(own))] }),
      ),
    );
    await land('first', { changes: [put('b', edited(3, 'first'), version(base))] });
    const second = await land('second', {
      changes: [put('b', edited(3, 'second'), version(base)), put('b2', 'new\n')],
    });
    await told('settled', ['b'], (common) =>
      repo.resolve(second.conflict, {
        ...common,
        results: [{ path: 'b', content: edited(3, 'first second') }],
        otherwise: { fate: 'transformed' },
      }),
    );
    const met = await land('met', { changes: [put('b', edited(3, 'met'), version(base))] });
    await land('meets', { changes: [put('b', edited(3, 'met'), any)] });
    while (repo.conflict(met.conflict).state === 'open') await new Promise((wake) => setTimeout(wake, 1));
    await land('mixed', {
      breakage: 'c is e from now on',
      changes: [
        { kind: 'move', path: 'src/c', to: 'src/e', expect: version(base) },
        { kind: 'chmod', path: 'src/d', mode: 'executable', expect: version(base) },
        put('large', noise(20_000)),
        put('cites', '// @decision D-1\n'),
      ],
      records: [{ key: 'task/1', expect: any, value: 'done' }],
    });
    await land('record', { records: [{ key: 'lease/x', expect: absent, value: 'mine' }] });
    await land('huge', { changes: [put('huge', noise(1_100_000))] });
    await land('same', { changes: [put('large', noise(20_000), any)] });
    await repo.freeze('f', act);
    await land('parked', { changes: [put('f', noise(30_000), version(base))] });
    await repo.thaw('f', act);
    const decomposer = { name: 'decomposer', kind: 'agent' };
    if (repo.outcome('split') === undefined) await repo.freeze('m', { ...act, owner: 'decomposer' });
    await land('m-parked', { changes: [put('m', edited(30, 'parked'), version(base))] }, ['m2']);
    await told('split', ['m', 'm1', 'm2'], async (common) => {
      const modules = [0, 20].map((from, at) => ({
        path: `m${at + 1}`,
        content: lines.slice(from, from + 20).join(''),
      }));
      const { outcome } = await repo.split('m', {
        ...common,
        author: decomposer,
        modules,
        remains: null,
        expect: base,
      });
      return outcome;
    });
    await land('m-stale', { changes: [put('m', edited(5, 'stale'), version(base))] }, ['m1']);
    await repo.freeze('f', { ...act, ms: 1 });
    while (repo.freezes().some(({ until }) => until > (options.clock ?? Date).now()))
      await new Promise((wake) => setTimeout(wake, 1));
    await land('expiry', { changes: [put('late', 'late\n')] });
    if (!repo.branches().some(({ name }) => name === 'side')) await repo.fork('side', { at: base });
    await land('on-side', {
      branch: 'side',
      changes: [put('src/d', edited(9, 'side'), version(base)), put('s', 's\n')],
    });
    await told('back', ['s', 'src/d'], (common) => repo.merge('side', common));
    const gitId = '1234567890'.repeat(4);
    if (repo.gitMarks.seqOf(gitId) === undefined) {
      const id = '9'.repeat(40);
      const change = {
        path: Buffer.from('git'),
        content: Buffer.from('from git\n'),
        mode: 'file',
        id,
        oldId: undefined,
      };
      const raw = Buffer.from('tree\n');
      const common = {
        branch: 'from-git',
        base: undefined,
        parents: [],
        author,
        message: 'git',
        time: 1_700_000_000_000,
      };
      const intake = repo.gitIntake();
      intake.add({ ...common, changes: [change], raw, gitId });
      await intake.land();
    }
    await inWorkspaces(repo, base, told);
    await inLinkedWorkspace(repo, base, told);
    await repo.flag('a', act);
    await repo.tag('v1', base);
    await repo.compact({ keep: 4 });
    return look(repo);
  } finally {
    await repo.close();
  }
}

// Recovery may go on with the removal that a death has interrupted.
const ignoreGone = (error) => {
  if (!isMoundError(error, 'no-such-workspace')) throw error;
};

/** The directory as a death has left it, or a new one; undefined where it was committed and removed. */
async function directoryIn(repo, place, operationId, options) {
  if (existsSync(place)) return openWorkspace(repo, place).catch(ignoreGone);
  if (repo.outcome(operationId) !== undefined) return undefined;
  return (await addWorkspace(repo, place, options)).directory;
}

/** A file is written to through a link; others of the same content are the same file. */
async function inLinkedWorkspace(repo, base, told) {
  const place = join(repo.dir, 'l');
  const directory = await directoryIn(repo, place, 'through-link', { at: base, links: true });
  if (directory !== undefined) {
    const file = join(place, 'src/d');
    const before = readFileSync(file, 'utf8');
    if (before.includes('line 20\n')) {
      chmodSync(file, 0o644);
      writeFileSync(file, before.replace('line 20\n', 'linked\n'));
    }
    await directory.shelve();
    await directory.discard(['a', 'b', 'f', 'm', 'src/c']);
    await directory.resolve('src/d').catch((error) => {
      if (!isMoundError(error, 'no-such-path')) throw error;
    });
    await told('through-link', ['src/d'], (common) => directory.commit(common));
  }
  await removeWorkspace(repo, 'l').catch(ignoreGone);
}

async function inWorkspaces(repo, base, told) {
  const virtual = await repo.workspace('virtual');
  await virtual.write('v', 'virtual\n');
  await told('virtual', ['v'], (common) => virtual.commit(common));
  const place = join(repo.dir, 'w');
  const directory = await directoryIn(repo, place, 'on-disk', { at: base });
  if (directory !== undefined) {
    const text = readFileSync(join(place, 'a'), 'utf8');
    writeFileSync(join(place, 'a'), text.replace('line 38\n', 'disk\n'));
    writeFileSync(join(place, 'w1'), 'one\n');
    await directory.shelve();
    await directory.sync();
    writeFileSync(join(place, 'w2'), 'two\n');
    await told('on-disk', ['a', 'w1', 'w2'], (common) => directory.commit(common));
  }
  await removeWorkspace(repo, 'w').catch(ignoreGone);
}
