import type { RepoPath } from '../core/ids.ts';
import type { Author, Precondition } from '../core/intent.ts';
import type { DecisionSet, DocumentFault } from '../decisions/index.ts';
import { PathPatterns } from './path-patterns.ts';
import { findingsOf, type CitingFile, type ReferenceFinding } from './references.ts';
import { deadLinks, type DeadLink, type LinkedTree, type LinkingFile } from './links.ts';
import type { NamedRule, Rule, RuleSubjects } from './rule.ts';

/** What rules look at of an intent. */
export interface RuledIntent {
  readonly branch: string;
  readonly author: Author;
  readonly task: string | undefined;
  readonly breakage: string | undefined;
  readonly records: readonly { readonly key: string; readonly expect: Precondition }[];
}

/** A file as an intent leaves it, and as it stands. */
export interface RuledFile extends CitingFile, LinkingFile {
  lines(): number;
  linesBefore(): number;
}

/** What a rule forbids, and what to do instead. */
export interface Violation {
  readonly rule: NamedRule;
  readonly message: string;
  readonly next: string;
  readonly paths: readonly string[];
}

/** The decisions before an intent and after it. */
export interface RuledDecisions {
  readonly before: DecisionSet;
  readonly after: DecisionSet;
}

type RuleOf<K extends Rule['kind']> = Rule & { readonly kind: K };

const isOf = (list: readonly string[] | undefined, value: string | undefined): boolean =>
  list === undefined || (value !== undefined && list.includes(value));

function isAbout(to: RuleSubjects | undefined, { author, task, branch }: RuledIntent): boolean {
  if (to === undefined) return true;
  const who =
    isOf(to.agents, author.agent ?? author.name) && isOf(to.roles, author.role) && isOf(to.kinds, author.kind);
  return who && isOf(to.tasks, task) && isOf(to.branches, branch);
}

/** Compiled once for each rule: sets of them follow one another with most of their rules the same. */
const compiled = new WeakMap<NamedRule, PathPatterns>();

function patternsOf(named: NamedRule, paths: readonly string[]): PathPatterns {
  const patterns = compiled.get(named) ?? new PathPatterns(paths);
  compiled.set(named, patterns);
  return patterns;
}

/** The rules of a repo at one seq, ready to be asked. Pure: what they need of the state they are given. */
export class RuleSet {
  readonly rules: readonly NamedRule[];
  private readonly patterns: ReadonlyMap<NamedRule, PathPatterns>;

  constructor(rules: readonly NamedRule[]) {
    this.rules = rules;
    const ofPaths = rules.flatMap((named) => ('paths' in named.rule ? [[named, named.rule.paths] as const] : []));
    this.patterns = new Map(ofPaths.map(([named, paths]) => [named, patternsOf(named, paths)]));
  }

  private fits(named: NamedRule, path: RepoPath): boolean {
    return this.patterns.get(named)?.fit(path) === true;
  }

  /** What can be said of an intent before its contents are final: where it reaches, and under whose claim. */
  ofReach(intent: RuledIntent, paths: readonly RepoPath[]): Violation | undefined {
    if (paths.length === 0) return undefined;
    for (const named of this.rules) {
      const { rule } = named;
      if ((rule.kind !== 'scope' && rule.kind !== 'fence') || !isAbout(rule.to, intent)) continue;
      const found = rule.kind === 'scope' ? this.ofScope(named, intent, paths) : ofFence(named, rule, intent);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private ofScope(named: NamedRule, { breakage }: RuledIntent, paths: readonly RepoPath[]): Violation | undefined {
    if ((breakage ?? '').trim() !== '') return undefined;
    const outside = paths.filter((path) => !this.fits(named, path));
    if (outside.length === 0) return undefined;
    return {
      rule: named,
      message: `rule ${named.name}: ${outside.join(', ')} is out of scope`,
      next: 'change what is in scope only, or state in the breakage why this has to be broken',
      paths: outside,
    };
  }

  /** What can be said once it is known what lands. */
  ofContents(intent: RuledIntent, files: readonly RuledFile[]): Violation | undefined {
    for (const named of this.rules) {
      const { rule } = named;
      if (rule.kind !== 'line-budget' || !isAbout(rule.to, intent)) continue;
      for (const file of files) {
        if (!this.fits(named, file.path)) continue;
        const found = ofBudget(named, rule, file);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  /** Whether anything is to be said of links. */
  get areLinksRuled(): boolean {
    return this.rules.some(({ rule }) => rule.kind === 'links');
  }

  /** `gone`: paths that the intent takes away. */
  ofLinks(
    intent: RuledIntent,
    files: readonly RuledFile[],
    gone: readonly RepoPath[],
    tree: LinkedTree,
  ): Violation | undefined {
    for (const named of this.rules) {
      if (named.rule.kind !== 'links' || !isAbout(named.rule.to, intent)) continue;
      const fits = (path: RepoPath): boolean => this.fits(named, path);
      const dead = deadLinks(
        files.filter(({ path }) => fits(path)),
        gone.filter(fits),
        tree,
        fits,
      );
      if (dead.length > 0) return ofDeadLinks(named, dead);
    }
    return undefined;
  }

  /** Whether anything is to be said of what files cite. */
  get areReferencesRuled(): boolean {
    return this.rules.some(({ rule }) => rule.kind === 'references');
  }

  /** What can be said of the decisions that files cite; findings are to be told where it lands all the same. */
  ofReferences(
    intent: RuledIntent,
    files: readonly RuledFile[],
    decisions: RuledDecisions,
  ): Violation | readonly ReferenceFinding[] {
    const told = new Map<string, ReferenceFinding>();
    for (const named of this.rules) {
      const { rule } = named;
      if (rule.kind !== 'references' || !isAbout(rule.to, intent)) continue;
      const ruled = files.filter(({ path }) => this.fits(named, path));
      const { faults, findings } = findingsOf(ruled, decisions);
      const bad = findings.filter(({ standing }) => standing !== 'outdated');
      if (rule.bad !== 'flag' && faults.length + bad.length > 0) return ofReferences(named, faults, bad);
      for (const finding of findings) told.set(`${finding.path}:${finding.line}:${finding.id}`, finding);
    }
    return [...told.values()];
  }
}

/** Less than before is fine: how else is a file to be pruned that was too long when the rule came? */
function ofBudget(named: NamedRule, { linesMax }: RuleOf<'line-budget'>, file: RuledFile): Violation | undefined {
  const lines = file.lines();
  if (lines <= linesMax || lines < file.linesBefore()) return undefined;
  return {
    rule: named,
    message: `rule ${named.name}: ${file.path} would have ${lines} lines, over its budget of ${linesMax}`,
    next: `take out at least ${lines - linesMax} lines in the same intent`,
    paths: [file.path],
  };
}

function ofReferences(named: NamedRule, faults: readonly DocumentFault[], bad: readonly ReferenceFinding[]): Violation {
  const said = [...faults, ...bad].map((one) => `${one.path}:${one.line}: ${'says' in one ? one.says : one.message}`);
  const more = said.length > saidMax ? ` and ${said.length - saidMax} more` : '';
  return {
    rule: named,
    message: `rule ${named.name}: ${said.slice(0, saidMax).join('; ')}${more}`,
    next:
      faults.length > 0
        ? 'correct the design document and land it again'
        : "cite an active decision ('mound decisions list'), or take the reference out",
    paths: [...new Set([...faults, ...bad].map(({ path }) => path))],
  };
}

/** Faults that one line lists. */
const saidMax = 5;

function ofDeadLinks(named: NamedRule, dead: readonly DeadLink[]): Violation {
  const said = dead.slice(0, saidMax).map(({ from, line, target }) => `${from}:${line} links to ${target}`);
  return {
    rule: named,
    message: `rule ${named.name}: ${said.join('; ')}, which would not be there`,
    next: 'take the link out in the same intent, or make what it leads to',
    paths: [...new Set(dead.map(({ from }) => from))],
  };
}

function ofFence(named: NamedRule, rule: RuleOf<'fence'>, intent: RuledIntent): Violation | undefined {
  const own: Readonly<Record<string, string | undefined>> = { task: intent.task, agent: intent.author.agent };
  const wanted = [...rule.record.matchAll(/\{(task|agent)\}/g)].map(([, name = '']) => name);
  const missing = wanted.find((name) => own[name] === undefined);
  const fault = (message: string, next: string): Violation => ({
    rule: named,
    message: `rule ${named.name}: ${message}`,
    next,
    paths: [],
  });
  if (missing !== undefined) {
    return rule.to === undefined ? undefined : fault(`the intent names no ${missing}`, `land it with its ${missing}`);
  }
  const key = rule.record.replaceAll(/\{(task|agent)\}/g, (_all, name: string) => own[name] ?? '');
  const record = intent.records.find((written) => written.key === key);
  if (record === undefined || record.expect.kind === 'any') {
    const next = 'read the record, and land the intent only while it still names you';
    return fault(`the intent does not write record ${key} under the version that its author saw`, next);
  }
  return undefined;
}
