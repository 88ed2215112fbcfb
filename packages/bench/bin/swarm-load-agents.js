#!/usr/bin/env node
import { main } from '../dist/suites/swarm-load/agents-process.js';

await main();
