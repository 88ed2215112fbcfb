// Writes the commands' modules, which `tsc -b` has compiled, once more into a few files: node spends a millisecond on
// each file that it loads, and a command needs some three hundred modules. `bin` runs them.
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { isBundleFresh } from './bin/freshness.js';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

if (!isBundleFresh()) {
  await build({
    configFile: false,
    logLevel: 'warn',
    root: at('.'),
    build: {
      ssr: true,
      // As deep as the modules that it holds: what they name beside themselves stays right.
      outDir: at('dist/bundle'),
      rolldownOptions: {
        input: { main: at('dist/cli/main.js'), 'git-remote': at('dist/cli/git-remote.js') },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  });
}
