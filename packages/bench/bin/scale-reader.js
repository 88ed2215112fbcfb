#!/usr/bin/env node
import { main } from '../dist/suites/scale/reader-process.js';

await main();
