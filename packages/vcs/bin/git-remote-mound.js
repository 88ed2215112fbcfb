#!/usr/bin/env node
import { isBundleFresh } from './freshness.js';

const { main } = await (isBundleFresh() ? import('../dist/bundle/git-remote.js') : import('../dist/cli/git-remote.js'));
process.exitCode = await main(process.argv.slice(2));
