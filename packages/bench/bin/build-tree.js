#!/usr/bin/env node
import '../dist/suites/coordination/build-process.js';
