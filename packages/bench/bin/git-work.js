#!/usr/bin/env node
import { main } from '../dist/suites/git/work-process.js';

await main();
