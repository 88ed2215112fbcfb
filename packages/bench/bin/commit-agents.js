#!/usr/bin/env node
import { main } from '../dist/suites/commit/agents-process.js';

await main();
