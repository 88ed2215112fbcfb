import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { absent, isMoundError, openRepo, version, type Change, type Repo, type RepoEvent } from '@mound/vcs';
import { RemoteRepo } from '@mound/vcs/client';
import { accessFileOf, newSecret, parseGrant, readServerAccess, serveRepo, tokenRecord } from '@mound/vcs/server';
import { describe, expect, test } from 'vitest';
import { landNew, agent, onCleanup, setup, tempDir, tempRepo } from './kit/temp.ts';
import { mound, moundBin, run, start, type Running } from './kit/process.ts';

interface Served {
  readonly repo: Repo;
  readonly url: string;
  readonly owner: string;
  readonly socket: string;
  /** A token's holder. */
  readonly as: (name: string, ...grants: readonly string[]) => Promise<RemoteRepo>;
  readonly secretOf: (name: string, grants: readonly string[], expires?: number) => Promise<string>;
  readonly raw: (path: string, init?: RequestInit, token?: string) => Promise<Response>;
}

const remoteOf = (place: ConstructorParameters<typeof RemoteRepo>[0]): RemoteRepo => {
  const remote = new RemoteRepo(place);
  onCleanup(() => remote.close());
  return remote;
};

/** A repository with a few files, served in this process. */
async function served(files: Readonly<Record<string, string>> = {}): Promise<Served> {
  const repo = await tempRepo();
  if (Object.keys(files).length > 0) await landNew(repo, files);
  const server = await serveRepo(repo, { port: 0 });
  onCleanup(() => server.close());
  const access = readServerAccess(repo.dir);
  if (access?.socket === undefined) throw new Error('the server left no access file');
  const secretOf = async (name: string, grants: readonly string[], expires?: number): Promise<string> => {
    const secret = newSecret();
    const token = { name, author: agent(name), grants: grants.map(parseGrant), expires };
    const outcome = await repo.land({ author: setup, message: 't', records: [tokenRecord(token, secret, absent)] });
    if (outcome.kind !== 'landed') throw new Error(outcome.kind);
    return secret;
  };
  return {
    repo,
    url: access.url,
    owner: access.token,
    socket: access.socket,
    secretOf,
    as: async (name, ...grants) => remoteOf({ url: access.url, token: await secretOf(name, grants) }),
    raw: (path, init = {}, token = access.token) =>
      fetch(access.url + path, {
        ...init,
        headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
      }),
  };
}

const putOf = (path: string, content: string, seen: Change['expect'] = absent): Change => ({
  kind: 'put',
  path,
  content,
  expect: seen,
});
const codeOf = (error: unknown): string => (isMoundError(error) ? error.code : String(error));
const codeWhere = (asked: Promise<unknown>): Promise<string> => asked.then(() => 'none', codeOf);

describe('what a holder of a token does', () => {
  test('lands, reads, merges, meets a conflict and resolves it', async () => {
    const { as } = await served({ 'src/a.txt': 'one\ntwo\nthree\nfour\nfive\n' });
    const [alice, bob] = [await as('alice', 'write'), await as('bob', 'write')];
    const seen = await alice.file('src/a.txt');
    if (seen === undefined) throw new Error('src/a.txt is gone');
    const based = version(seen.version);
    const first = await alice.land({
      message: 'first',
      changes: [putOf('src/a.txt', 'ONE\ntwo\nthree\nfour\nfive\n', based)],
    });
    const second = await bob.land({
      message: 'second',
      changes: [putOf('src/a.txt', 'one\ntwo\nthree\nfour\nFIVE\n', based)],
    });
    expect([first.kind, second.kind]).toEqual(['landed', 'merged']);
    expect((await bob.file('src/a.txt'))?.content.toString()).toBe('ONE\ntwo\nthree\nfour\nFIVE\n');

    const third = await bob.land({
      message: 'third',
      changes: [putOf('src/a.txt', '1\ntwo\nthree\nfour\nfive\n', based)],
    });
    if (third.kind !== 'conflicted') throw new Error(third.kind);
    const view = await alice.conflict(third.conflict);
    expect(view).toMatchObject({ state: 'open', author: agent('bob'), paths: [{ path: 'src/a.txt' }] });
    const resolved = await bob.resolve(third.conflict, {
      results: [{ path: 'src/a.txt', content: 'ONE and 1\ntwo\nthree\nfour\nFIVE\n' }],
      otherwise: { fate: 'transformed', reason: 'both' },
    });
    expect(resolved.kind).toBe('landed');
    const [newest] = await alice.log({ path: 'src/a.txt', limit: 1 });
    expect(newest?.author).toEqual(agent('bob'));
    expect((await alice.blame('src/a.txt')).map(({ author }) => author.agent)).toEqual([
      'bob',
      undefined,
      undefined,
      undefined,
      'bob',
    ]);
  });

  test('bytes that are no text, modes, deletes and moves come back as they went', async () => {
    const { as, repo } = await served({ 'old.txt': 'x\n' });
    const alice = await as('alice', 'write');
    const bytes = Buffer.from([0, 255, 10, 128]);
    const outcome = await alice.land({
      message: 'm',
      changes: [
        { kind: 'put', path: 'bin/x', content: bytes, mode: 'executable', expect: absent },
        { kind: 'move', path: 'old.txt', to: 'new.txt', expect: version(1) },
      ],
    });
    expect(outcome.kind).toBe('landed');
    const file = await alice.file('bin/x');
    expect([file?.content.equals(bytes), file?.mode]).toEqual([true, 'executable']);
    expect(
      repo
        .snapshot()
        .list()
        .map(({ path }) => path),
    ).toEqual(['bin/x', 'new.txt']);
    expect(await alice.file('old.txt')).toBeUndefined();
    const blob = await alice.stage('staged');
    expect((await alice.land({ message: 's', changes: [{ kind: 'put', path: 's', blob, expect: absent }] })).kind).toBe(
      'landed',
    );
    const told = await alice.file('s');
    expect(told?.content.toString()).toBe('staged');
    expect((await alice.files({ prefix: 'bin' })).files.map(({ path }) => path)).toEqual(['bin/x']);
  });

  test('the same operation id gives the same answer, another intent under it is refused', async () => {
    const { as } = await served();
    const alice = await as('alice', 'write');
    const intent = { message: 'm', operationId: 'op', changes: [putOf('a', 'x')] };
    const first = await alice.land(intent);
    expect(await alice.land(intent)).toEqual(first);
    expect(await alice.outcome('op')).toEqual(first);
    expect(await alice.outcome('other')).toBeUndefined();
    expect(await codeWhere(alice.land({ ...intent, changes: [putOf('a', 'y')] }))).toBe('operation-mismatch');
  });

  test('a hundred agents at once lose nothing', async () => {
    const { as, repo } = await served({ 'shared.txt': Array.from({ length: 400 }, (_, i) => `line ${i}\n`).join('') });
    const alice = await as('alice', 'write', 'as-any');
    const lines = repo.snapshot().readText('shared.txt')?.split('\n') ?? [];
    const landed = await Promise.all(
      Array.from({ length: 100 }, async (_, at) => {
        const edited = lines.with(at * 4, `edited by ${at}`).join('\n');
        const author = agent(`agent-${at}`);
        const own = await alice.land({ author, message: 'own', changes: [putOf(`own/${at}`, `${at}`)] });
        const both = await alice.land({
          author,
          message: 'shared',
          changes: [putOf('shared.txt', edited, version(1))],
        });
        return [own.kind, both.kind];
      }),
    );
    expect(new Set(landed.flat())).toEqual(new Set(['landed', 'merged']));
    const text = repo.snapshot().readText('shared.txt') ?? '';
    for (let at = 0; at < 100; at++) expect(text).toContain(`edited by ${at}\n`);
    expect(repo.snapshot().list('own')).toHaveLength(100);
    expect([...repo.log({ author: 'agent-7' })]).toHaveLength(2);
    expect(repo.fsck().ok).toBe(true);
  });

  test('it is the same over the Unix socket, which only this user can reach', async () => {
    const { url, socket, owner } = await served({ a: 'x' });
    const remote = remoteOf({ url: 'http://mound', socket, token: owner });
    expect((await remote.file('a'))?.content.toString()).toBe('x');
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });
});

describe('what a token does not allow', () => {
  test('the author is the token’s', async () => {
    const { as, repo } = await served();
    const alice = await as('alice', 'write');
    const intent = { message: 'm', changes: [putOf('a', 'x')] };
    expect(await codeWhere(alice.land({ ...intent, author: agent('bob') }))).toBe('forbidden');
    expect((await alice.land({ ...intent, author: agent('alice') })).kind).toBe('landed');
    expect([...repo.log()].map(({ author }) => author)).toEqual([agent('alice')]);
  });

  test('paths outside of its prefix are neither changed nor read, nor is what tells of them', async () => {
    const { as, repo, secretOf, raw } = await served({ 'src/a': 'x', 'secret/b': 'y' });
    const alice = await as('alice', 'write:src');
    const allowed = await alice.land({ message: 'm', changes: [putOf('src/c', 'x')] });
    expect(allowed.kind).toBe('landed');
    const refused: readonly Change[] = [
      putOf('other', 'x'),
      putOf('srcx/a', 'x'),
      { kind: 'move', path: 'src/a', to: 'out', expect: version(1) },
      { kind: 'move', path: 'secret/b', to: 'src/b', expect: version(1) },
      { kind: 'delete', path: 'secret/b', expect: version(1) },
    ];
    for (const change of refused)
      expect(await codeWhere(alice.land({ message: 'm', changes: [change] }))).toBe('forbidden');
    expect(await codeWhere(alice.file('secret/b'))).toBe('forbidden');
    expect(await codeWhere(alice.log())).toBe('forbidden');
    expect(await codeWhere(alice.blame('secret/b'))).toBe('forbidden');
    expect((await alice.files()).files.map(({ path }) => path)).toEqual(['src/a', 'src/c']);
    const secret = await secretOf('carol', ['read:src']);
    for (const path of ['log', 'events', 'branches', 'records', 'stats', 'rules', 'commit?id=1', 'object?blob=x']) {
      expect([path, (await raw(`/v1/${path}`, {}, secret)).status]).toEqual([path, 403]);
    }
    const diff = (await (await raw('/v1/diff?from=0', {}, secret)).json()) as { changes: { path: string }[] };
    expect(diff.changes.map(({ path }) => path)).toEqual(['src/a', 'src/c']);
    expect(repo.snapshot().list()).toHaveLength(3);
  });

  test('a reader writes nothing, and a writer neither rules nor tokens', async () => {
    const { as, secretOf, raw } = await served({ a: 'x' });
    const reader = await as('reader', 'read');
    expect(await codeWhere(reader.land({ message: 'm', changes: [putOf('b', 'x')] }))).toBe('forbidden');
    expect(await codeWhere(reader.stage('x'))).toBe('forbidden');
    expect(await codeWhere(reader.fork('b'))).toBe('forbidden');
    const writer = await as('writer', 'write');
    for (const key of ['mound/tokens/mine', 'mound/rules/x', 'mound/signals', 'git/head']) {
      const record = { key, expect: absent, value: '{}' };
      expect(await codeWhere(writer.land({ message: 'm', records: [record] }))).toBe('forbidden');
    }
    expect((await writer.land({ message: 'm', records: [{ key: 'app/x', expect: absent, value: '1' }] })).kind).toBe(
      'landed',
    );
    const secret = await secretOf('plain', ['read']);
    const posts = [
      'land',
      'objects',
      'resolve',
      'remerge',
      'fork',
      'merge',
      'tag',
      'restore',
      'revert',
      'flag',
      'freeze',
      'thaw',
      'split',
    ];
    const bodies: Readonly<Record<string, object>> = {
      land: { message: 'm', changes: [{ kind: 'delete', path: 'a', expect: 1 }] },
      merge: { branch: 'x' },
      fork: { name: 'x' },
      tag: { name: 'x', seq: 1 },
      restore: { paths: ['a'], at: 0 },
      revert: { commit: 1 },
      flag: { path: 'a', reason: 'r' },
      freeze: { path: 'a', reason: 'r' },
      thaw: { path: 'a', reason: 'r' },
      split: { path: 'a', modules: [], remains: null },
    };
    for (const name of posts) {
      const response = await raw(
        `/v1/${name}`,
        { method: 'POST', body: JSON.stringify(bodies[name] ?? { id: 'c9' }) },
        secret,
      );
      // Of a conflict that is not there nothing can be said.
      const status = name === 'resolve' || name === 'remerge' ? [400, 404] : [403];
      expect([name, status.includes(response.status)]).toEqual([name, true]);
    }
  });

  test('no token, an unknown one, one that is over, one that was taken away', async () => {
    const { repo, url, secretOf, raw } = await served();
    expect((await fetch(`${url}/v1/repo`)).status).toBe(401);
    expect((await raw('/v1/repo', {}, 'mound_no')).status).toBe(401);
    expect((await raw('/v1/repo', {}, await secretOf('over', ['read'], Date.now() - 1))).status).toBe(401);
    const secret = await secretOf('gone', ['read']);
    expect((await raw('/v1/repo', {}, secret)).status).toBe(200);
    const key = 'mound/tokens/gone';
    const at = repo.snapshot().record(key)?.version ?? 0;
    await repo.land({ author: setup, message: 'r', records: [{ key, expect: version(at), value: null }] });
    await expect.poll(async () => (await raw('/v1/repo', {}, secret)).status, { timeout: 10_000 }).toBe(401);
  });

  test('a record of a token that cannot be read lets nobody in, and keeps no one out', async () => {
    const { repo, secretOf, raw } = await served();
    const records = [{ key: 'mound/tokens/broken', expect: absent, value: '{"digest":""}' }];
    await repo.land({ author: setup, message: 'm', records });
    expect((await raw('/v1/repo', {}, await secretOf('fine', ['read']))).status).toBe(200);
  });
});

describe('what is refused', () => {
  // Case 37 of the recorded ones at this entrance, and others of the kind.
  test.each([
    '.git/config', '.GIT/x', 'git~1/x', '.git /x', 'a/../b', '/etc/x', 'a//b', 'a\0b',
    '..', './a', 'a/', '.g\u200cit/x', 'a\\.git\\x', '.git::$INDEX_ALLOCATION/x', '//hex:ff',
  ])('the path %j', async (path) => {
    const { as, repo } = await served({ fine: 'x' });
    const alice = await as('alice', 'write');
    const changes: readonly Change[] = [
      putOf(path, 'x'),
      { kind: 'move', path: 'fine', to: path, expect: version(1) },
    ];
    for (const change of changes) {
      const outcome = await alice.land({ message: 'm', changes: [change] });
      expect(outcome).toMatchObject({ kind: 'rejected', code: 'invalid-path' });
    }
    expect(repo.snapshot().list()).toHaveLength(1);
  }); // prettier-ignore

  test('a name that another one folds to (case 38)', async () => {
    const { as } = await served({ straße: 'x' });
    const alice = await as('alice', 'write');
    const outcome = await alice.land({ message: 'm', changes: [putOf('STRASSE', 'y')] });
    expect(outcome).toMatchObject({ kind: 'rejected', code: 'path-collision', paths: ['STRASSE', 'straße'] });
  });

  test('what is no request, in one line that says so', async () => {
    const { raw, repo } = await served({ a: 'x' });
    const post = (body: string | Buffer, name = 'land') => raw(`/v1/${name}`, { method: 'POST', body });
    const before = repo.snapshot().seq;
    const asked: readonly (readonly [Promise<Response>, number, RegExp])[] = [
      [post('{'), 400, /the body is no JSON/],
      [post(Buffer.from([0x22, 0xff, 0x22])), 400, /not UTF-8/],
      [post('{"message":"\\ud800","changes":[{"kind":"delete","path":"a","expect":1}]}'), 409, /surrogate/],
      [post('[]'), 400, /the intent is no object/],
      [post('{"message":"m","chnages":[]}'), 400, /unknown field "chnages"/],
      [post('{"name":"x"}', 'tag'), 400, /"seq" is no whole number/],
      [raw('/v1/file'), 400, /'path' is missing/],
      [raw('/v1/file?path=a&at=x'), 400, /no whole number/],
      [raw('/v1/file?path=a&pth=b'), 400, /'pth' is unknown/],
      [raw('/v1/file?path=a&path=b'), 400, /twice/],
      [raw('/v1/file?path=b'), 404, /there is no b/],
      [raw('/v1/file?path=a&at=99'), 404, /seq 99/],
      [raw('/v1/events?from=x'), 400, /no cursor/],
      [raw('/v1/nothing'), 404, /there is no GET/],
      [post(Buffer.alloc(64 * 1024 * 1024 + 1, 0x20)), 413, /bytes at most/],
    ];
    for (const [response, status, line] of asked) {
      const got = await response;
      const { message } = (await got.json()) as { message: string };
      expect([got.status, line.test(message) ? '' : message, message.includes('\n')]).toEqual([status, '', false]);
    }
    expect(repo.snapshot().seq).toBe(before);
  });

  test('bytes that are no HTTP close their connection, and the server goes on', async () => {
    const { url, raw } = await served();
    const { port } = new URL(url);
    const told = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(Number(port), '127.0.0.1', () => void socket.write('\x00\x01garbage\r\n\r\n'));
      socket.on('data', (data) => (text += String(data)));
      socket.on('close', () => resolve(text));
      socket.on('error', () => undefined);
    });
    expect(told).toMatch(/^HTTP\/1\.1 400/);
    expect((await raw('/v1/repo')).status).toBe(200);
  });
});

test('a reader that has the content is told so, and no browser takes a file for a page', async () => {
  const { raw } = await served({ 'x.html': '<script>alert(1)</script>' });
  const first = await raw('/v1/file?path=x.html');
  const etag = first.headers.get('etag') ?? '';
  expect([first.headers.get('content-type'), first.headers.get('x-content-type-options')]).toEqual([
    'application/octet-stream',
    'nosniff',
  ]);
  expect((await raw('/v1/file?path=x.html', { headers: { 'if-none-match': etag } })).status).toBe(304);
  const page = await raw('/');
  expect([page.status, page.headers.get('content-security-policy')?.includes("default-src 'none'")]).toEqual([
    200,
    true,
  ]);
});

type Place = Required<ConstructorParameters<typeof RemoteRepo>[0]>;

/** The real command, once it says that it serves. */
async function serving(dir: string, ...args: string[]): Promise<Running & { readonly place: Place }> {
  const running = start(process.execPath, [moundBin, '--repo', dir, 'serve', '--port', '0', '--json', ...args]);
  await new Promise((resolve) => running.child.stdout?.once('data', resolve));
  return { ...running, place: JSON.parse(readFileSync(accessFileOf(dir), 'utf8')) as Place };
}

describe('the command', () => {
  test('a token is added, used, listed and removed; its secret is not kept', async () => {
    const dir = tempDir();
    await (await openRepo(dir, { create: true })).close();
    const added = await mound([
      '--repo',
      dir,
      '--agent',
      'alice',
      'token',
      'add',
      'alice',
      '--grant',
      'write:src',
      '--json',
    ]);
    const { token } = JSON.parse(added.stdout) as { token: string };
    const again = await mound(['--repo', dir, 'token', 'add', 'alice']);
    expect([again.code, again.stderr]).toEqual([
      2,
      expect.stringMatching(/^mound: there is a token alice already[^\n]+\n$/),
    ]);
    const { child, finished, place } = await serving(dir);
    const alice = remoteOf({ url: place.url, token });
    expect((await alice.land({ message: 'm', changes: [putOf('src/a', 'x')] })).kind).toBe('landed');
    const listed = await mound(['--repo', dir, 'token', '--json']);
    expect(JSON.parse(listed.stdout)).toEqual({
      tokens: [{ name: 'alice', author: { name: 'alice', kind: 'agent', agent: 'alice' }, grants: ['write:src'] }],
    });
    expect(listed.stdout + JSON.stringify([...(await openedRecords(dir))])).not.toContain(token);
    expect((await mound(['--repo', dir, 'token', 'remove', 'alice'])).code).toBe(0);
    expect((await mound(['--repo', dir, 'token', 'remove', 'alice'])).code).toBe(2);
    expect((await mound(['--repo', dir, 'token', 'add', 'bad', '--grant', 'delete'])).code).toBe(2);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await finished;
    expect([code, stderr, JSON.parse(stdout)]).toEqual([0, '', expect.objectContaining({ url: place.url })]);
    expect([existsSync(accessFileOf(dir)), existsSync(place.socket ?? '')]).toEqual([false, false]);
  });

  test('killed with -9 it loses nothing that was answered; the next one takes its place, and who follows goes on', async () => {
    const dir = tempDir();
    const repo = await openRepo(dir, { create: true });
    onCleanup(() => repo.close());
    const secret = newSecret();
    const token = { name: 'all', author: agent('all'), grants: [parseGrant('write')], expires: undefined };
    await repo.land({ author: setup, message: 't', records: [tokenRecord(token, secret, absent)] });
    const first = await serving(dir);
    const second = await mound(['--repo', dir, 'serve', '--port', '0']);
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringMatching(/^mound: another server answers at [^\n]+\n$/),
    ]);

    const remote = remoteOf({ url: first.place.url, token: secret });
    const stop = new AbortController();
    const seen: RepoEvent[] = [];
    const followed = (async () => {
      for await (const event of remote.follow(undefined, stop.signal)) seen.push(event);
    })();
    const answered: number[] = [];
    const landing = Promise.all(
      Array.from({ length: 20 }, async (_, who) => {
        for (let at = 0; ; at++) {
          const change = putOf(`${who}/${at}`, `${who} ${at}`);
          const outcome = await remote.land({ message: 'm', changes: [change] }).catch(() => undefined);
          if (outcome?.kind !== 'landed') return at;
          answered.push(outcome.seq);
        }
      }),
    );
    await expect.poll(() => answered.length, { timeout: 20_000 }).toBeGreaterThan(200);
    first.child.kill('SIGKILL');
    const counts = await landing;
    const snapshot = repo.snapshot();
    for (const [who, count] of counts.entries()) {
      for (let at = 0; at < count; at++) expect(snapshot.readText(`${who}/${at}`)).toBe(`${who} ${at}`);
    }
    expect(repo.fsck().ok).toBe(true);
    expect(existsSync(first.place.socket ?? '')).toBe(true);

    const again = await serving(dir, '--port', new URL(first.place.url).port);
    const late = await repo.land({ author: setup, message: 'late', changes: [putOf('late', 'x')] });
    if (late.kind !== 'landed') throw new Error(late.kind);
    await expect.poll(() => seen.some(({ seq }) => seq === late.seq), { timeout: 20_000 }).toBe(true);
    stop.abort();
    await followed;
    // Each once, in order, over the gap.
    expect(seen.map(({ seq, index }) => `${seq}:${index}`)).toEqual(
      [...repo.events()].map(({ seq, index }) => `${seq}:${index}`),
    );
    again.child.kill('SIGINT');
    expect((await again.finished).code).toBe(130);
  });

  test.runIf(process.platform === 'linux')(
    'in a sandbox with a pid namespace of its own the commands go through it by themselves',
    async (context) => {
      const sandboxed = ['-p', '-f', '--mount-proc'];
      const probe = await run('unshare', [...sandboxed, 'true']).catch(() => undefined);
      if (probe?.code !== 0) {
        console.warn('skipped: this user cannot make a pid namespace');
        return context.skip();
      }
      const dir = tempDir();
      await (await openRepo(dir, { create: true })).close();
      const { child, finished } = await serving(dir);
      const inside = (args: readonly string[], input?: string | Uint8Array) =>
        run('unshare', [...sandboxed, process.execPath, moundBin, ...args], {
          env: { ...process.env, MOUND_AUTHOR: 'boxed user' },
          ...(input !== undefined && { input }),
        });
      const bytes = Buffer.from([0, 255, 10]);
      const put = await inside(
        ['--repo', dir, '--agent', 'boxed', 'put', 'src/a', '-m', 'from inside', '--json'],
        bytes,
      );
      expect([put.code, put.stderr, JSON.parse(put.stdout)]).toEqual([
        0,
        '',
        expect.objectContaining({ outcome: 'landed' }),
      ]);
      const cat = await inside(['cat', 'src/a', '--json', `--repo=${dir}`]);
      expect(JSON.parse(cat.stdout)).toMatchObject({ path: 'src/a', contentBase64: bytes.toString('base64') });
      const log = await inside(['--repo', dir, 'log', '--json']);
      expect(JSON.parse(log.stdout)).toMatchObject({ entries: [{ author: agent('boxed'), message: 'from inside' }] });
      expect((await inside(['--repo', dir, 'put', 'b', '-m', 'm'], 'x')).code).toBe(0);
      expect(JSON.parse((await inside(['--repo', dir, 'log', 'b', '--json'])).stdout)).toMatchObject({
        entries: [{ author: { name: 'boxed user', kind: 'human' } }],
      });
      const missing = await inside(['--repo', dir, 'cat', 'none']);
      expect([missing.code, missing.stderr]).toEqual([1, expect.stringMatching(/^mound: there is no none[^\n]+\n$/)]);
      const again = await inside(['--repo', dir, 'put', 'src/a', '-m', 'again'], 'x');
      expect(again.code).toBe(3);
      // What reads or writes files of the caller's does not.
      const added = await inside(['--repo', dir, 'workspace', 'add', `${dir}/files`]);
      expect([added.code, added.stderr]).toEqual([42, expect.stringContaining("go through 'mound serve'")]);
      child.kill('SIGTERM');
      await finished;
      const alone = await inside(['--repo', dir, 'cat', 'src/a', '--json']);
      expect(alone.code).toBe(0);
    },
  );

  test('commands are run for the owner alone, and none but those that look at the store', async () => {
    const dir = tempDir();
    await (await openRepo(dir, { create: true })).close();
    const { place } = await serving(dir);
    const ask = (words: readonly string[], token = place.token) =>
      fetch(`${place.url}/v1/command`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ words }),
      });
    const made = await mound(['--repo', dir, 'token', 'add', 'writer', '--json']);
    const { token } = JSON.parse(made.stdout) as { token: string };
    expect((await ask(['ls'], token)).status).toBe(403);
    expect((await ask(['ls'])).status).toBe(200);
    for (const name of ['import', 'export', 'backup', 'workspace', 'serve', 'bisect', 'green', 'split', 'swarm']) {
      expect([name, (await ask([name, `${dir}/x`])).status]).toEqual([name, 400]);
    }
    for (const words of [
      ['backup', `${dir}/x`, 'ls'],
      ['--agent', 'ls', 'backup', `${dir}/x`],
      ['--repo', '/', 'ls'],
      ['ls', '--repo=/'],
      [],
    ]) {
      expect([words, (await ask(words)).status]).toEqual([words, 400]);
    }
    expect(existsSync(`${dir}/x`)).toBe(false);
  });

  test('what cannot be listened at, and what is no repository, is one line', async () => {
    const dir = tempDir();
    await (await openRepo(dir, { create: true })).close();
    const { place, child } = await serving(dir, '--no-socket');
    const taken = await mound(['--repo', dir, 'serve', '--no-socket', '--port', new URL(place.url).port]);
    expect([taken.code, taken.stderr]).toEqual([
      2,
      expect.stringMatching(/^mound: cannot listen at [^\n]+EADDRINUSE[^\n]+\n$/),
    ]);
    child.kill('SIGTERM');
    writeFileSync(join(tempDir(), 'x'), '');
    const none = await mound(['--repo', tempDir(), 'serve', '--port', '0']);
    expect([none.code, none.stderr.split('\n').length]).toEqual([42, 2]);
  });
});

async function openedRecords(dir: string): Promise<string[]> {
  const repo = await openRepo(dir);
  const values = repo
    .snapshot()
    .records()
    .map(({ key, value }) => key + value.toString('utf8'));
  await repo.close();
  return values;
}
