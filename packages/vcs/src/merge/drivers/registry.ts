import type { PathAttributes } from '../../attributes/index.ts';
import { MoundError } from '../../core/errors.ts';
import { structuralDriverOf } from '../structure/structural.ts';
import type { MergeDriver } from '../driver.ts';
import { binaryDriver } from './binary.ts';
import { jsonDriver } from './json.ts';
import { isLockFile, lockDriver } from './lock.ts';
import { textDriver } from './text.ts';
import { unionDriver } from './union.ts';

const builtIn: readonly MergeDriver[] = [textDriver, unionDriver, binaryDriver, jsonDriver, lockDriver];

const structuralId = 'structural';

/** A driver that is part of Mound, so that a thread has it as well; undefined for others. */
export const builtInDriver = (id: string, path: string): MergeDriver | undefined =>
  id === structuralId ? structuralDriverOf(path) : builtIn.find((driver) => driver.id === id);

/** Whether a driver is part of Mound. */
export const isBuiltIn = (driver: MergeDriver, path: string): boolean => builtInDriver(driver.id, path) === driver;

/** Whether `.gitattributes` can ask for a driver of this id. */
export const isDriverName = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(id);

/** The drivers of a repo, by the name under which `.gitattributes` asks for them. */
export class Drivers {
  private readonly byId: ReadonlyMap<string, MergeDriver>;

  /** Errors: `invalid-argument` for an id that is taken or cannot stand in `.gitattributes`, or an empty version. */
  constructor(own: readonly MergeDriver[] = []) {
    const byId = new Map(builtIn.map((driver) => [driver.id, driver]));
    const isTaken = (id: string): boolean => byId.has(id) || id === structuralId;
    for (const driver of own) {
      const { id, version } = driver;
      const fault = !isDriverName(id)
        ? 'is no name'
        : isTaken(id)
          ? 'is taken'
          : version === ''
            ? 'has no version'
            : '';
      if (fault !== '') throw new MoundError('invalid-argument', `the merge driver '${id}' ${fault}`, { driver: id });
      byId.set(id, driver);
    }
    this.byId = byId;
  }

  /**
   * The driver of a path: what its `merge` attribute says as in git (set: `text`,
   * unset: `binary`, a name that nobody registered: `text`), and where it says
   * nothing, one by the path's name.
   */
  of(path: string, attributes: PathAttributes): MergeDriver {
    const asked = attributes.get('merge');
    if (asked === undefined) return byName(path);
    if (typeof asked === 'boolean') return asked ? textDriver : binaryDriver;
    return (asked === structuralId ? structuralDriverOf(path) : this.byId.get(asked)) ?? textDriver;
  }
}

function byName(path: string): MergeDriver {
  if (isLockFile(path)) return lockDriver;
  return path.endsWith('.json') ? jsonDriver : (structuralDriverOf(path) ?? textDriver);
}
