import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ScriptedModel } from '@mound/swarm';

const call = (name, input) => ({ name, arguments: input });

/**
 * A worker edits, waits where `gate` names a file that is not there yet, and lands the number of its process.
 * @param {{ gate?: string, dir?: string, tokens?: number }} options
 */
export const modelsOf = ({ gate, dir, tokens = 10 }) => ({
  worker: new ScriptedModel({
    worker: async ({ brief, turn, request }, signal) => {
      const path = `${brief.task.id}.txt`;
      if (turn === 0) {
        return { calls: [call('write', { path, content: `${process.pid}\n` })], usage: usage(tokens) };
      }
      if (turn === 1) {
        if (dir !== undefined) writeFileSync(join(dir, `at-${brief.task.id}-${brief.generation}`), String(process.pid));
        while (gate !== undefined && !existsSync(gate) && !signal.aborted) await sleep(10);
        return { calls: [call('read', { path })], usage: usage(tokens) };
      }
      const told = request.messages.filter(
        ({ role, content }) => role === 'user' && content.includes('About your task'),
      );
      const findings = told.map(({ content }) => content);
      return { calls: [call('finish', { status: 'done', findings })], usage: usage(tokens) };
    },
  }),
});

const usage = (each) => ({ inputTokens: each, outputTokens: each, cachedTokens: 0, estimated: false });

export const makeHand = (options) => {
  if (options.fails) throw new Error('no minds here');
  return { models: modelsOf(options) };
};
