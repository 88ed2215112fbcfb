/**
 * Flags of Node for a process in which thousands of intents land a second, to be given when it is started
 * (`execArgv`, or on its command line). What an intent needs lives for a few ten milliseconds: with V8's
 * defaults much of it outlives the young generation, and whoever waits while the old one is collected waits for some
 * ten milliseconds more.
 */
export const landingNodeFlags: readonly string[] = [
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
  '--heap-growing-percent=400',
];
