import { serveFiles } from '../dist/sqllogictest/thread.js';

serveFiles();
