import type { LineEndSettings } from '../attributes/index.ts';
import { isMoundError } from '../core/errors.ts';
import type { Repo } from '../repo/api.ts';
import { colocationOf } from './colocation.ts';
import { namedFile, ownFile, settingOf } from './settings-files.ts';

/**
 * What the settings of the git checkout that a repository stands in say of line ends: `core.autocrlf`, `core.eol`, the
 * user's attributes (`core.attributesFile`) and the checkout's own (`info/attributes`). Undefined where the repository
 * stands in no checkout, or git cannot be asked.
 */
export async function lineEndSettingsOf(repo: Repo): Promise<LineEndSettings | undefined> {
  try {
    const colocation = await colocationOf(repo);
    if (colocation === undefined) return undefined;
    const { gitDir } = colocation;
    const [autocrlf, eol, attributesBeneath, attributesAbove] = await Promise.all([
      autocrlfOf(gitDir),
      settingOf(gitDir, 'core.eol'),
      namedFile(gitDir, 'core.attributesFile', 'attributes'),
      ownFile(gitDir, 'info/attributes'),
    ]);
    return { autocrlf, eol: eolOf(eol), attributesBeneath, attributesAbove };
  } catch (error) {
    if (isMoundError(error)) return undefined;
    throw error;
  }
}

async function autocrlfOf(gitDir: string): Promise<boolean | 'input'> {
  const plain = await settingOf(gitDir, 'core.autocrlf');
  if (plain?.toLowerCase() === 'input') return 'input';
  return plain !== undefined && (await settingOf(gitDir, 'core.autocrlf', 'bool')) === 'true';
}

/** What git does not know of is as the platform has it. */
function eolOf(value: string | undefined): LineEndSettings['eol'] {
  const eol = value?.toLowerCase();
  return eol === 'lf' || eol === 'crlf' ? eol : undefined;
}
