// Run anew for each test file: files share their modules, and a hook belongs to the file that was loading.
import { afterEach } from 'vitest';
import { cleanUp } from './cleanups.ts';

afterEach(cleanUp);

// A third of the time of a commit goes to a collection that finds nothing, and to flushes that no power failure tests.
const settings = { 'maintenance.auto': 'false', 'core.fsync': 'none' };
process.env['GIT_CONFIG_COUNT'] = `${Object.keys(settings).length}`;
for (const [at, [key, value]] of Object.entries(settings).entries()) {
  process.env[`GIT_CONFIG_KEY_${at}`] = key;
  process.env[`GIT_CONFIG_VALUE_${at}`] = value;
}
