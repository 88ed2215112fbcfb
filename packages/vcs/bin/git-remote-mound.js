#!/usr/bin/env node
import { main } from '../dist/cli/git-remote.js';

process.exitCode = await main(process.argv.slice(2));
