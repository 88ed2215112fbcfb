#!/usr/bin/env node
import { main } from '../dist/subjects/mound-server-process.js';

await main();
