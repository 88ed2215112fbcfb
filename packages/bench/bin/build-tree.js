#!/usr/bin/env node
import { main } from '../dist/suites/coordination/build-process.js';

process.exitCode = await main();
