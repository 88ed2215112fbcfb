import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Imports a package that is no dependency: as it is installed beside this one, else where the command is run. */
export async function importPackage(name: string): Promise<unknown> {
  try {
    return (await import(name)) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const file = fileFrom(process.cwd(), name);
    if (file === undefined) throw error;
    return (await import(pathToFileURL(file).href)) as unknown;
  }
}

function fileFrom(dir: string, name: string): string | undefined {
  try {
    return createRequire(join(dir, 'none.js')).resolve(name);
  } catch {
    return undefined;
  }
}
