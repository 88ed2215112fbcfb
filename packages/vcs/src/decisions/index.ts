export { checkDecisions, documentsIn, hasFindings, type DecisionReport, type TreeFile } from './check.ts';
export {
  decisionPath,
  designDirectory,
  hashOfDecision,
  isDecisionId,
  isDesignPath,
  symbolOf,
  type Decision,
  type DecisionStatus,
} from './decision.ts';
export { isDocumentFault, parseDecision, renderDecision } from './decision-document.ts';
export {
  DecisionSet,
  designDocument,
  type DesignDocument,
  type Reference,
  type ReferenceStanding,
  type StandingDecision,
} from './decision-set.ts';
export {
  parseFrontMatter,
  renderFrontMatter,
  type DocumentFault,
  type Field,
  type FrontMatter,
} from './front-matter.ts';
export { generateSymbols, symbolLanguageOf } from './generate.ts';
export { citationsOf, citedSymbolsOf, generatedSymbol, isGenerated, type Citation } from './reference.ts';
