import { isMoundError } from '@mound/vcs';
import { faultOfRole, type Role } from '../core/role.ts';
import type { ToolCall, ToolSpec } from '../model/model.ts';
import { fail, type Tool, type ToolAnswer } from './tool.ts';

/** The tools that one agent holds, and the only way in which its calls are run. */
export class Toolset {
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #role: Role;

  /** `tools`: bound to their effects; those outside of the role's list are left out. */
  constructor(role: Role, tools: readonly Tool[]) {
    const fault = faultOfRole(role);
    if (fault !== undefined) throw new Error(fault);
    this.#role = role;
    this.#tools = new Map(tools.filter(({ name }) => role.tools.includes(name)).map((tool) => [tool.name, tool]));
  }

  specs(): ToolSpec[] {
    return [...this.#tools.values()].map((tool) => tool.spec());
  }

  /** `key` names the call within its agent's life. */
  async call(call: ToolCall, key: string): Promise<ToolAnswer> {
    const tool = this.#tools.get(call.name);
    if (tool === undefined) {
      const held = [...this.#tools.keys()].join(', ');
      return fail(`${call.name} was not run: a ${this.#role.kind} does not hold it. Use one of: ${held}.`);
    }
    if (call.fault !== undefined) {
      return fail(`${call.name} was not run: ${call.fault}. Call it again with complete JSON arguments.`);
    }
    try {
      return await tool.run(call.arguments, key);
    } catch (error) {
      // What the store calls a fault of its caller is told to the caller; the rest ends the agent.
      const told = ['no-such-seq', 'no-such-path', 'no-such-conflict', 'invalid-argument', 'operation-mismatch'];
      if (isMoundError(error) && told.includes(error.code)) return fail(`${call.name} failed: ${error.message}.`);
      throw error;
    }
  }
}
