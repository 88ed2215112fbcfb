#!/usr/bin/env node
import { main } from '../dist/suites/scale/compacter-process.js';

await main();
