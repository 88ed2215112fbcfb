/** What crosses a process boundary as JSON: one form for the command line, the server and MCP. */
export { bytesFields, intentFields, intentOf, preconditionFields, preconditionOf, type WireIntent } from './intent.ts';
export { countOf, fieldsOf, listOf, oneOf, optional, parseJson, textOf, WireFault, type Fields } from './fields.ts';
export { resolutionOf } from './resolution.ts';
export { commitFields, conflictFields, outcomeFields, outcomeOf, recordFields } from './views.ts';
