#!/usr/bin/env node
import { main } from '../dist/runtime/hands/hand-process.js';

await main();
