/** Seed of the tests that draw at random: fixed, so that a run is repeatable; `npm run soak` gives other ones. */
export const seed = Number(process.env['MOUND_SEED'] ?? 1);
/** How much larger than in `npm test` the random tests run. */
export const scale = Number(process.env['MOUND_SCALE'] ?? 1);
