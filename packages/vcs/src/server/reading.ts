import type { Hono } from 'hono';
import { MoundError } from '../core/errors.ts';
import type { BlobId } from '../core/ids.ts';
import { limits } from '../core/limits.ts';
import type { Repo, Snapshot } from '../repo/api.ts';
import { commitFields, conflictFields, outcomeFields, recordFields } from '../wire/index.ts';
import { answer, firstOf, Query, type Env } from './answers.ts';
import { formatGrant } from './grant.ts';

const entriesUsual = 100;

const limitOf = (query: Query, usual: number): number =>
  Math.min(limits.rowsPerAnswerMax, query.count('limit') ?? usual);

function absentPath(snapshot: Snapshot, path: string): MoundError {
  const found = snapshot.whereabouts(path);
  const now = found?.kind === 'moved' ? [found.path] : found?.kind === 'split' ? found.paths : [];
  const where = now.length === 0 ? '' : `; it is in ${now.join(', ')} now`;
  return new MoundError('no-such-path', `there is no ${path} at seq ${snapshot.seq}${where}`, { path, now });
}

/** What a reader asks for. Where everything is read, the token has to allow that; else what it may read is listed. */
export function addReading(app: Hono<Env>, repo: Repo): void {
  app.get('/v1/repo', (request) => {
    const snapshot = repo.snapshot();
    const { name, author, grants } = request.get('access').token;
    const { repoId, formatVersion } = repo;
    const { seq, durableSeq } = snapshot;
    return answer({ repoId, formatVersion, seq, durableSeq, token: { name, author, grants: grants.map(formatGrant) } });
  });

  app.get('/v1/files', (request) => {
    const query = new Query(request, ['prefix', 'at', 'branch', 'after', 'limit']);
    const access = request.get('access');
    const snapshot = repo.snapshot(query.count('at'), query.text('branch'));
    const after = query.text('after');
    const listed = snapshot.list(query.text('prefix'));
    const from = after === undefined ? 0 : listed.findIndex(({ path }) => path === after) + 1;
    const { rows, hasMore } = firstOf(
      listed.slice(from).filter(({ path }) => access.mayRead(path)),
      limitOf(query, limits.rowsPerAnswerMax),
    );
    return answer({ seq: snapshot.seq, files: rows, hasMore });
  });

  app.get('/v1/file', (request) => {
    const query = new Query(request, ['path', 'at', 'branch']);
    const path = query.mustText('path');
    request.get('access').mustRead(path);
    const snapshot = repo.snapshot(query.count('at'), query.text('branch'));
    const head = snapshot.head(path);
    if (head === undefined) throw absentPath(snapshot, path);
    const headers = {
      etag: `"${head.blob}"`,
      'mound-seq': String(snapshot.seq),
      'mound-version': String(head.version),
      'mound-mode': head.mode,
      // Whatever a file says, no browser takes it for a page of this server.
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    };
    if (request.req.header('if-none-match') === headers.etag) return new Response(null, { status: 304, headers });
    const content = snapshot.read(path);
    if (content === undefined) throw absentPath(snapshot, path);
    return new Response(new Uint8Array(content), { headers });
  });

  app.get('/v1/object', (request) => {
    request.get('access').mustReadAll();
    const bytes = repo.readObject(new Query(request, ['blob']).mustText('blob') as BlobId);
    return new Response(new Uint8Array(bytes), { headers: { 'content-type': 'application/octet-stream' } });
  });

  app.get('/v1/records', (request) => {
    request.get('access').mustReadAll();
    const query = new Query(request, ['prefix', 'at', 'branch', 'limit']);
    const snapshot = repo.snapshot(query.count('at'), query.text('branch'));
    const { rows, hasMore } = firstOf(snapshot.records(query.text('prefix')), limitOf(query, limits.rowsPerAnswerMax));
    return answer({ seq: snapshot.seq, records: rows.map(recordFields), hasMore });
  });

  app.get('/v1/log', (request) => {
    const query = new Query(request, ['path', 'branch', 'author', 'task', 'from', 'limit']);
    const path = query.text('path');
    if (path === undefined) request.get('access').mustReadAll();
    else request.get('access').mustRead(path);
    const limit = limitOf(query, entriesUsual);
    const options = { ...query.given('path', 'branch', 'author', 'task'), ...query.counts('from'), limit };
    return answer({ entries: [...repo.log(options)].map(commitFields) });
  });

  app.get('/v1/commit', (request) => {
    const id = new Query(request, ['id']).mustText('id');
    const view = repo.commit(/^\d{1,15}$/.test(id) ? Number(id) : id);
    for (const { path } of view.changes) request.get('access').mustRead(path);
    if (view.changes.length === 0) request.get('access').mustReadAll();
    return answer(commitFields(view));
  });

  app.get('/v1/diff', (request) => {
    const query = new Query(request, ['from', 'to', 'branch', 'prefix']);
    const access = request.get('access');
    const from = query.count('from') ?? 0;
    const to = query.count('to') ?? repo.snapshot().seq;
    const entries = repo.diff(from, to, query.given('branch', 'prefix'));
    return answer({ from, to, changes: entries.filter(({ path }) => access.mayRead(path)) });
  });

  app.get('/v1/blame', (request) => {
    const query = new Query(request, ['path', 'at', 'branch']);
    const path = query.mustText('path');
    request.get('access').mustRead(path);
    return answer({ lines: repo.blame(path, { ...query.counts('at'), ...query.given('branch') }) });
  });

  app.get('/v1/outcome', (request) => {
    const id = new Query(request, ['operationId']).mustText('operationId');
    const outcome = repo.outcome(id);
    return answer(outcome === undefined ? { outcome: null } : outcomeFields(outcome));
  });

  app.get('/v1/conflicts', (request) => {
    const access = request.get('access');
    Query.none(request);
    const rows = repo.conflicts().filter(({ asked }) => asked.every(({ path }) => access.mayRead(path)));
    return answer({
      conflicts: rows.map(({ id, branch, author, message, time, task, operationId, asked }) => ({
        id,
        branch,
        author,
        message,
        time,
        task,
        operationId,
        asked: asked.map(({ kind, path, movedFrom, movedTo }) => ({ kind, path, movedFrom, movedTo })),
      })),
    });
  });

  app.get('/v1/conflict', (request) => {
    const query = new Query(request, ['id', 'asOf']);
    const view = repo.conflict(query.mustText('id'), query.count('asOf'));
    for (const { path } of [...view.asked, ...view.paths]) request.get('access').mustRead(path);
    return answer(conflictFields(view));
  });

  const whole: readonly (readonly [string, (query: Query) => object])[] = [
    ['branches', () => ({ branches: repo.branches() })],
    ['tags', () => ({ tags: repo.tags() })],
    ['freezes', () => ({ freezes: repo.freezes() })],
    ['rules', () => ({ rules: repo.rules() })],
    ['signals', () => ({ signals: repo.signals() })],
    ['stats', () => ({ ...repo.stats() })],
  ];
  for (const [name, read] of whole) {
    app.get(`/v1/${name}`, (request) => {
      request.get('access').mustReadAll();
      return answer(read(Query.none(request)));
    });
  }
}
