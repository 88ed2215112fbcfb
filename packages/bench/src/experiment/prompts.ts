import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { parsePrompt, type Role } from '@mound/swarm';

/** Roles with the prompts that stand in a directory, as ROLE.md; the others keep theirs. Errors: `TypeError` where a file is no prompt. */
export function withPrompts(roles: Readonly<Record<string, Role>>, dir: string | undefined): Record<string, Role> {
  return Object.fromEntries(
    Object.entries(roles).map(([name, role]) => {
      const file = dir === undefined ? undefined : join(dir, `${name}.md`);
      if (file === undefined || !existsSync(file)) return [name, role];
      return [name, { ...role, prompt: parsePrompt(file, readFileSync(file, 'utf8')).text }];
    }),
  );
}
