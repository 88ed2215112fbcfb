import { fileURLToPath } from 'node:url';
import type { JsonValue } from '../core/json.ts';
import type { HandModule } from '../runtime/hands/hand-process.ts';
import type { ProcessesOptions } from '../runtime/hands/hands.ts';
import { parseConfig, type EffectiveConfig } from './config.ts';
import { makeModels } from './make-models.ts';

const launcher = fileURLToPath(new URL('../../bin/mound-hand-minds.js', import.meta.url));

/** More processes whose minds are those of the configuration. */
export const handsOf = (config: EffectiveConfig): ProcessesOptions => ({
  count: config.bounds.processes,
  module: launcher,
  // Without what nobody gave: a message between processes keeps it apart from what is missing.
  options: JSON.parse(JSON.stringify(config)) as JsonValue,
});

/** The minds of one more process. Each has gates of its own, and its part of what may be asked at once. */
export const makeHand: HandModule = async (options, { repo }) => {
  const config = parseConfig(options, process.cwd());
  return makeModels(config, { repo });
};
