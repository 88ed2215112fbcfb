import type { Hono } from 'hono';
import { limits } from '../core/limits.ts';
import type { Repo } from '../repo/api.ts';
import {
  countOf,
  fieldsOf,
  intentOf,
  listOf,
  optional,
  outcomeFields,
  preconditionOf,
  resolutionOf,
  textOf,
  type Fields,
} from '../wire/index.ts';
import { answer, answerOutcome, bodyOf, jsonOf, type Env, type Request } from './answers.ts';

const revertFields = ['message', 'rationale', 'branch', 'operationId'] as const;

const textsOf = (fields: Fields, names: readonly string[]): Readonly<Record<string, string>> =>
  Object.assign({}, ...names.map((name) => optional(name, fields[name], textOf))) as Record<string, string>;

const unparkedFields = (
  parked: readonly { readonly id: string; readonly outcome: Parameters<typeof outcomeFields>[0] }[],
) => parked.map(({ id, outcome }) => ({ id, ...outcomeFields(outcome) }));

/** What a writer asks for; the author is the token's. */
export function addWriting(app: Hono<Env>, repo: Repo): void {
  const post = (name: string, act: (request: Request) => Promise<Response>): void => {
    app.post(`/v1/${name}`, act);
  };
  const bodyFields = async (request: Request, allowed: readonly string[]): Promise<Fields> =>
    fieldsOf(await jsonOf(request), 'the body', allowed);
  const author = (request: Request) => request.get('access').author(undefined);

  post('land', async (request) => {
    const access = request.get('access');
    const intent = intentOf(await jsonOf(request));
    access.mustLand(intent.changes, intent.records);
    return answerOutcome(await repo.land({ ...intent, author: access.author(intent.author) }));
  });

  post('objects', async (request) => {
    request.get('access').mustWriteAll();
    return answer({ blob: await repo.stage(await bodyOf(request, limits.blobSizeBytesMax)) });
  });

  post('resolve', async (request) => {
    const access = request.get('access');
    const { id, ...rest } = fieldsOf(await jsonOf(request), 'the body', [
      'id', 'results', 'accounts', 'otherwise', 'asOf', 'message', 'rationale', 'operationId',
    ]); // prettier-ignore
    const conflict = textOf(id, '"id"');
    const resolution = resolutionOf(rest);
    const { asked } = repo.conflict(conflict);
    for (const { path } of [...asked, ...resolution.results]) access.mustWrite(path);
    for (const { at } of resolution.results) if (at !== undefined) access.mustWrite(at);
    return answerOutcome(await repo.resolve(conflict, { ...resolution, author: author(request) }));
  });

  post('remerge', async (request) => {
    const id = textOf((await bodyFields(request, ['id']))['id'], '"id"');
    for (const { path } of repo.conflict(id).asked) request.get('access').mustWrite(path);
    return answerOutcome(await repo.remerge(id));
  });

  post('fork', async (request) => {
    request.get('access').mustWriteAll();
    const { name, from, at } = await bodyFields(request, ['name', 'from', 'at']);
    const options = { ...optional('from', from, textOf), ...optional('at', at, countOf), author: author(request) };
    return answer({ ...(await repo.fork(textOf(name, '"name"'), options)) });
  });

  post('merge', async (request) => {
    request.get('access').mustWriteAll();
    const fields = await bodyFields(request, ['branch', 'message', 'rationale', 'operationId']);
    const options = { author: author(request), ...textsOf(fields, ['message', 'rationale', 'operationId']) };
    return answerOutcome(await repo.merge(textOf(fields['branch'], '"branch"'), options));
  });

  post('tag', async (request) => {
    request.get('access').mustWriteAll();
    const { name, seq } = await bodyFields(request, ['name', 'seq']);
    return answer({ ...(await repo.tag(textOf(name, '"name"'), countOf(seq, '"seq"'), author(request))) });
  });

  post('restore', async (request) => {
    const fields = await bodyFields(request, ['paths', 'at', ...revertFields]);
    const paths = listOf(fields['paths'], '"paths"').map((path) => textOf(path, 'a path'));
    if (paths.length === 0) request.get('access').mustWriteAll();
    for (const path of paths) request.get('access').mustWrite(path);
    const options = { author: author(request), at: countOf(fields['at'], '"at"'), ...textsOf(fields, revertFields) };
    return answerOutcome(await repo.restore(paths, options));
  });

  post('revert', async (request) => {
    const fields = await bodyFields(request, ['commit', ...revertFields]);
    const { commit } = fields;
    const view = repo.commit(typeof commit === 'number' ? commit : textOf(commit, '"commit"'));
    for (const { path } of view.changes) request.get('access').mustWrite(path);
    return answerOutcome(await repo.revert(view.seq, { author: author(request), ...textsOf(fields, revertFields) }));
  });

  post('flag', async (request) => {
    const { path, reason, branch } = await bodyFields(request, ['path', 'reason', 'branch']);
    request.get('access').mustWrite(textOf(path, '"path"'));
    const options = {
      author: author(request),
      reason: textOf(reason, '"reason"'),
      ...optional('branch', branch, textOf),
    };
    return answer({ seq: await repo.flag(textOf(path, '"path"'), options) });
  });

  post('freeze', async (request) => {
    const fields = await bodyFields(request, ['path', 'reason', 'branch', 'owner', 'ms']);
    const path = textOf(fields['path'], '"path"');
    request.get('access').mustWrite(path);
    const options = {
      author: author(request),
      reason: textOf(fields['reason'], '"reason"'),
      ...optional('branch', fields['branch'], textOf),
      ...optional('owner', fields['owner'], textOf),
      ...optional('ms', fields['ms'], countOf),
    };
    return answer({ seq: await repo.freeze(path, options) });
  });

  post('thaw', async (request) => {
    const fields = await bodyFields(request, ['path', 'reason', 'branch']);
    const path = textOf(fields['path'], '"path"');
    request.get('access').mustWrite(path);
    const { seq, parked } = await repo.thaw(path, {
      author: author(request),
      reason: textOf(fields['reason'], '"reason"'),
      ...optional('branch', fields['branch'], textOf),
    });
    return answer({ seq, parked: unparkedFields(parked) });
  });

  post('split', async (request) => {
    const access = request.get('access');
    const fields = await bodyFields(request, ['path', 'modules', 'remains', 'expect', 'task', ...revertFields]);
    const path = textOf(fields['path'], '"path"');
    access.mustWrite(path);
    const modules = listOf(fields['modules'], '"modules"').map((value) => {
      const module = fieldsOf(value, 'a module', ['path', 'content', 'expect']);
      return {
        path: textOf(module['path'], 'the path of a module'),
        content: textOf(module['content'], 'the content of a module'),
        ...optional('expect', module['expect'], preconditionOf),
      };
    });
    for (const module of modules) access.mustWrite(module.path);
    const { outcome, parked } = await repo.split(path, {
      author: author(request),
      modules,
      remains: fields['remains'] === null ? null : textOf(fields['remains'], '"remains"'),
      ...optional('expect', fields['expect'], countOf),
      ...textsOf(fields, ['task', ...revertFields]),
    });
    return answerOutcome(outcome, { unparked: unparkedFields(parked) });
  });
}
