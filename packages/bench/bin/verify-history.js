#!/usr/bin/env node
import { main } from '../dist/suites/history/verify-process.js';

process.exitCode = await main(process.argv.slice(2));
