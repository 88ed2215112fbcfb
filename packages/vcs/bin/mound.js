#!/usr/bin/env node
import { isBundleFresh } from './freshness.js';

const { main } = await (isBundleFresh() ? import('../dist/bundle/main.js') : import('../dist/cli/main.js'));
process.exitCode = await main(process.argv.slice(2));
