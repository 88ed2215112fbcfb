/** What crosses a process boundary as JSON: one form for the command line, the server and MCP. */
export { authorFromJson, intentFields, intentOf, preconditionOf, type WireIntent } from './intent.ts';
export {
  bytesOfBase64,
  countOf,
  fieldsOf,
  listOf,
  optional,
  parseJson,
  textOf,
  WireFault,
  type Fields,
} from './fields.ts';
export { resolutionFields, resolutionOf } from './resolution.ts';
export { commitFields, conflictFields, outcomeFields, outcomeOf, recordFields } from './views.ts';
