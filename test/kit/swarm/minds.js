// Scripted minds for a swarm that is killed again and again: what an agent does next follows from what it has been
// answered so far, so that one that goes on after a crash does so in the middle of its work.
import { appendFileSync } from 'node:fs';

/** Results of one tool so far, oldest first. */
const resultsOf = ({ request }, name) =>
  request.messages
    .filter((message) => message.role === 'tool' && message.name === name)
    .map((message) => JSON.parse(message.content));
const hasDone = (view, name) => resultsOf(view, name).some(({ ok }) => ok);
const call = (name, input) => ({ calls: [{ name, arguments: input }] });

export const slotsOf = (count) =>
  Array.from({ length: count }, (_, at) => `# ----- slot ${at}\nfree ${at}\n# ===== slot ${at}\n`).join('\n');

/** Every request costs this much; `served` notes each before it is answered. */
const usage = { inputTokens: 70, outputTokens: 30, cachedTokens: 0, estimated: false };

/**
 * `subs` planners below the goal's hand out `perSub` tasks each. A task fills its own slot of a hot file, adds a line
 * to a file in which everybody does (a conflict for most), and writes a file of its own.
 */
export function minds({ subs, perSub, hotFiles, served, delayMs, isCounting = false }) {
  const answer = async (view, turn) => {
    const { brief } = view;
    const name =
      brief.role === 'merger'
        ? `merge ${brief.conflict}`
        : `${brief.role} ${typeof brief.task === 'string' ? brief.task : brief.task.id}`;
    appendFileSync(served, `${name}\n`);
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    // A client takes a server that counts far too few tokens for one that cuts what it is sent.
    const inputTokens = isCounting ? Math.ceil(JSON.stringify(view.request.messages).length / 4) : usage.inputTokens;
    return { ...turn, usage: { ...usage, inputTokens } };
  };

  const planner = (view) => {
    const { brief } = view;
    const known = new Set((brief.known ?? []).map(({ task }) => task));
    // A planner before this one may have handed all out, and been told of all.
    const isTaken = resultsOf(view, 'delegate').some(({ says }) => says.includes('is taken'));
    if (hasDone(view, 'wait') || isTaken) return answer(view, call('finish', { status: 'done' }));
    if (!hasDone(view, 'delegate') && known.size === 0) {
      const tasks =
        brief.task === 'root'
          ? Array.from({ length: subs }, (_, sub) => ({
              id: `s${sub}`,
              title: `sub ${sub}`,
              role: 'planner',
              unchecked: 'plans',
            }))
          : Array.from({ length: perSub }, (_, at) => {
              const number = Number(brief.task.slice(1)) * perSub + at;
              return { id: `t${number}`, title: `task ${number}`, input: number, unchecked: 'scripted' };
            });
      return answer(view, call('delegate', { tasks }));
    }
    return answer(view, call('wait', {}));
  };

  const worker = (view) => {
    const number = view.brief.input;
    const hot = `hot${number % hotFiles}.txt`;
    const [filled, free] = [`filled by ${number}\n`, `free ${number}\n`];
    const last = resultsOf(view, 'read').at(-1);
    // By this agent, or by one before it whose edits it has.
    const isFilled = resultsOf(view, 'read').some(({ path, text }) => path === hot && text?.includes(filled));
    if (!hasDone(view, 'edit') && !isFilled) {
      if (last?.path !== hot || view.results.some(({ name, value }) => name === 'edit' && !value.ok)) {
        return answer(view, call('read', { path: hot }));
      }
      const edits = [{ search: free, replace: filled }];
      return answer(view, call('edit', { path: hot, version: last.version, edits }));
    }
    // What a killed process had read is not known to the next one, which refuses what is based on it.
    const isRefused = view.results.some(({ name, value }) => name === 'write' && !value.ok);
    if (last?.path !== 'log.txt' || isRefused) return answer(view, call('read', { path: 'log.txt' }));
    const hasLogged = last.text.includes(`line of ${number}\n`) || hasDone(view, 'edit-log');
    if (
      !hasLogged &&
      !view.request.messages.some(
        (message) => message.role === 'tool' && message.name === 'write' && JSON.parse(message.content).ok,
      )
    ) {
      return answer(
        view,
        call('write', { path: 'log.txt', content: `${last.text}line of ${number}\n`, expect: last.version }),
      );
    }
    if (
      !view.request.messages.some(
        (message) => message.role === 'tool' && message.name === 'commit' && JSON.parse(message.content).ok,
      )
    ) {
      const changes = [{ path: `own/${number}.txt`, content: `own ${number}\n` }];
      return answer(view, call('commit', { changes, message: `task ${number}` }));
    }
    return answer(view, call('finish', { status: 'done' }));
  };

  const merger = (view) => {
    const { brief } = view;
    const last = view.results[0];
    const own = [brief, ...(brief.also ?? [])].map((work) => work.conflict);
    const conflict = own[resultsOf(view, 'resolve').filter(({ ok }) => ok).length];
    if (conflict === undefined) return answer(view, call('finish', { status: 'done' }));
    if (last?.name !== 'read_conflict') return answer(view, call('read_conflict', { conflict }));
    const results = last.value.paths.map(({ path, current, incoming }) => {
      const lines = current.text.split('\n').slice(0, -1);
      const more = incoming.text
        .split('\n')
        .filter((line) => line !== '' && !lines.includes(line) && !line.startsWith('free '));
      return { path, content: [...lines, ...more].map((line) => `${line}\n`).join('') };
    });
    const otherwise = { fate: 'transformed', reason: 'the lines of both sides' };
    return answer(view, call('resolve', { conflict, results, otherwise }));
  };

  return { planner, worker, merger };
}
