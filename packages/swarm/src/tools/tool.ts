import { z } from 'zod';
import type { JsonObject } from '../core/json.ts';
import type { ToolName } from '../core/role.ts';
import type { AgentEndReason } from '../events/event.ts';
import type { ToolSpec } from '../model/model.ts';
import type { Refusal } from './operations.ts';

/** What a model is answered. `says` is for reading; `ok` and the rest are for programs. */
export interface ToolAnswer {
  readonly ok: boolean;
  readonly says: string;
  readonly more?: JsonObject;
  /** The agent ends with this answer: its work is over, or it has to stop. */
  readonly ends?: AgentEndReason;
}

export const fail = (says: string): ToolAnswer => ({ ok: false, says });
export const refusalAnswer = (refusal: Refusal): ToolAnswer =>
  refusal.ends === true ? { ok: false, says: refusal.says, ends: 'finished' } : fail(refusal.says);

export interface ToolDefinition<Schema extends z.ZodType> {
  readonly name: ToolName;
  readonly description: string;
  readonly schema: Schema;
  /** Made once, when first asked for. */
  spec(): ToolSpec;
}

export function defineTool<Schema extends z.ZodType>(
  name: ToolName,
  description: string,
  schema: Schema,
): ToolDefinition<Schema> {
  let spec: ToolSpec | undefined;
  return {
    name,
    description,
    schema,
    spec() {
      if (spec === undefined) {
        const { $schema: _, ...parameters } = z.toJSONSchema(schema, { io: 'input' });
        spec = { name, description, parameters };
      }
      return spec;
    },
  };
}

/** A tool with its effects: what an agent holds. */
export interface Tool {
  readonly name: ToolName;
  spec(): ToolSpec;
  /**
   * Validates, then runs. A wrong argument is answered with what is wrong, never run.
   * `key` names the call within its agent's life.
   */
  run(input: unknown, key: string): Promise<ToolAnswer>;
}

export function bindTool<Schema extends z.ZodType>(
  definition: ToolDefinition<Schema>,
  run: (input: z.output<Schema>, key: string) => ToolAnswer | Promise<ToolAnswer>,
): Tool {
  return {
    name: definition.name,
    spec: () => definition.spec(),
    async run(input, key) {
      const parsed = definition.schema.safeParse(input);
      if (parsed.success) return run(parsed.data, key);
      const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`);
      return fail(
        `${definition.name} was not run. ${faults.join('; ')}. Correct the arguments and call it again. Their JSON Schema: ${JSON.stringify(definition.spec().parameters)}`,
      );
    },
  };
}
