import type { Outcome } from '@mound/vcs';
import type { JsonObject } from '../core/json.ts';
import type { Refusal } from './operations.ts';
import { refusalAnswer, type ToolAnswer } from './tool.ts';

const answer = (ok: boolean, says: string, outcome: JsonObject): ToolAnswer => ({ ok, says, more: { outcome } });

/** The store's answer in words, with what to do next, and in JSON. */
export function outcomeAnswer(outcome: Outcome | Refusal): ToolAnswer {
  switch (outcome.kind) {
    case 'refused':
      return refusalAnswer(outcome);
    case 'landed':
      return answer(true, `landed as seq ${outcome.seq}`, {
        kind: outcome.kind,
        seq: outcome.seq,
        commit: outcome.commit,
      });
    case 'unchanged':
      return answer(true, 'unchanged: all of it is already so; nothing to land', {
        kind: outcome.kind,
        seq: outcome.seq,
      });
    case 'merged': {
      const paths = outcome.merged.map(({ path }) => path);
      const says = `landed as seq ${outcome.seq}, merged with what others had landed in ${paths.join(', ')}`;
      return answer(true, says, { kind: outcome.kind, seq: outcome.seq, commit: outcome.commit, paths });
    }
    case 'conflicted': {
      const says = `conflicted in ${outcome.paths.join(', ')}: nothing landed. Your whole commit is kept as ${outcome.conflict} and a neutral merger settles it. Do not write it again; call finish.`;
      return answer(true, says, {
        kind: outcome.kind,
        seq: outcome.seq,
        conflict: outcome.conflict,
        paths: outcome.paths,
      });
    }
    case 'parked': {
      const says = `parked: ${outcome.paths.join(', ')} is frozen. Your whole commit is kept as ${outcome.parked} and lands at the thaw. Do not write it again; call finish.`;
      return answer(true, says, { kind: outcome.kind, seq: outcome.seq, parked: outcome.parked, paths: outcome.paths });
    }
    default: {
      const { kind, code, message, next, paths } = outcome;
      const stale = outcome.stale.map((detail) => ({ ...detail }));
      return answer(false, `rejected (${code}): ${message}. Next: ${next}`, { kind, code, paths, stale });
    }
  }
}
