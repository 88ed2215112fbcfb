#!/usr/bin/env node
import { main } from '../dist/suites/swarm/bare-process.js';

await main(process.argv[2] ?? '');
