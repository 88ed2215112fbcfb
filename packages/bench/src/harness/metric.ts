/**
 * Everything that a sample may tell, with its unit and its heading in a table.
 * Names are fixed, so that results of different days can be laid side by side;
 * what a name is of (which peer, which phase, which seq) stands in the workload.
 */
const table = {
  /** Commits that landed (or merged and landed), acknowledged as the subject's durability says. */
  commitsPerSecond: ['commits/s', 'commits/s'],
  /** From the call to its acknowledgement. */
  latencyMsP50: ['ms', 'p50 ms'],
  latencyMsP99: ['ms', 'p99 ms'],
  latencyMsP999: ['ms', 'p99.9 ms'],
  /** Growth on disk, all records and indexes, by allocated blocks. */
  bytesPerCommit: ['bytes', 'bytes/commit'],
  commitsPerRound: ['commits', 'commits'],
  /** Commits of the agent with the fewest (most) when the first agent had made its last: who starves shows here. */
  commitsPerAgentMin: ['commits', 'least an agent'],
  commitsPerAgentMax: ['commits', 'most an agent'],
  filesPerSecond: ['files/s', 'files/s'],
  /** Of the floor program's rate under the same load, within a round. */
  ratioToFloor: ['times', 'of floor'],
  /** Of Mound's own rate in workload W1 with as many in flight in one process, within a round. */
  ratioToW1: ['times', 'of W1'],
  /** How many times as fast as the workload's `peer`, within a round. */
  ratioToPeer: ['times', 'times as fast'],
  /** Rate of the last stretch of a long run as a share of the first's. */
  ratioToFirstStretch: ['times', 'of first stretch'],
  /** Of the time of a run, what goes to the workload's `phase`. */
  share: ['share', 'share of time'],
  stepOverheadMs: ['ms', 'step ms'],
  conflictsPerCommit: ['conflicts', 'conflicts/commit'],
  conflictsPerSecond: ['conflicts/s', 'conflicts/s'],
  conflictsPerAcceptedLine: ['conflicts', 'conflicts/line'],
  mergesPerCommit: ['merges', 'merges/commit'],
  /** How often a landed edit was found stale before, to be merged and offered again. */
  staleRetriesPerCommit: ['retries', 'stale/commit'],
  /** How many times fewer these are after a split than before it. */
  staleRetriesFall: ['times', 'times fewer'],
  /** Intended lines, added or changed, that stand in the end. */
  acceptedLines: ['lines', 'accepted lines'],
  /** Of the trunk's trees that were built, those that do not build. */
  brokenBuilds: ['share', 'broken builds'],
  /** Files that came back to an earlier content. */
  oscillations: ['files', 'oscillations'],
  /** Of the commits, those that only settle what others did. */
  neutralCommits: ['commits', 'neutral commits'],
  /** Attempts to publish that a rule of the repository refused. */
  refusedTries: ['tries', 'refused tries'],
  /** Work that was brought in twice. */
  duplicateWork: ['times', 'done twice'],
  /** Of the checks of the build that a run made itself. */
  buildPassRate: ['share', 'checks passed'],
  /** Of what agents were told without asking. */
  toldTokens: ['tokens', 'told tokens'],
  /** Of all requests to models. */
  tokensTotal: ['tokens', 'tokens'],
  /** Requests to models; what those of known price cost, and how many have none. */
  modelRequests: ['requests', 'requests'],
  costUsd: ['USD', 'cost $'],
  unknownCostRequests: ['requests', 'of unknown cost'],
  inputTokens: ['tokens', 'tokens in'],
  outputTokens: ['tokens', 'tokens out'],
  /** Input tokens of a request. */
  contextTokensP50: ['tokens', 'context p50'],
  contextTokensP99: ['tokens', 'context p99'],
  conflictsTotal: ['conflicts', 'conflicts'],
  tasksTotal: ['tasks', 'tasks'],
  /** Of the tree in the end, without documentation that agents were given. */
  linesTotal: ['lines', 'lines'],
  filesTotal: ['files', 'files'],
  largestFileLines: ['lines', 'longest file'],
  /** Of its lines of code, those in windows that stand in it more than once. */
  duplicateShare: ['share', 'duplicate'],
  /** Of the trees that were tried, those that build. */
  buildPassShare: ['share', 'builds'],
  /** Files by what they depend on without being allowed to. */
  dependencyViolations: ['uses', 'not allowed'],
  /** Of the code's shingles, those that stand in the reference sources. */
  similarityShare: ['share', 'like references'],
  /** From a conflict's opening to the start of its merger. */
  mergeQueueMsP50: ['ms', 'merge queue p50 ms'],
  mergeQueueMsP99: ['ms', 'merge queue p99 ms'],
  lostUpdates: ['edits', 'lost'],
  /** Edits that are not on the trunk and that somebody must bring there. */
  strandedEdits: ['edits', 'stranded'],
  /** Calls that failed at somebody else's lock. */
  lockFailures: ['calls', 'lock failures'],
  /** Compare-and-swaps of the trunk that came too late. */
  racesLost: ['calls', 'races lost'],
  /** Three-way merges of files that a merge subject answered. */
  mergesCount: ['merges', 'merges'],
  cleanMerges: ['merges', 'clean'],
  conflictedMerges: ['merges', 'conflicts'],
  /** Inputs that a subject takes for no text. */
  refusedMerges: ['merges', 'refused'],
  /** Of the merges that neither refused: the same verdict as the workload's `peer`, and where clean the same bytes. */
  agreement: ['share', 'agreement'],
  cleanHereOnly: ['merges', 'clean here only'],
  cleanThereOnly: ['merges', 'clean there only'],
  cleanButDifferent: ['merges', 'clean but different'],
  /** Clean where git's and GNU's line merges are in conflict both. */
  cleanAgainstAll: ['merges', 'clean against all'],
  /** Clean merges of which the people who made the merge committed something else. */
  changedByPeople: ['merges', 'changed by people'],
  /** Conflicts of the workload's `peer` that came out clean, and those of them that people committed so. */
  conflictsAvoided: ['merges', 'conflicts avoided'],
  avoidedAsCommitted: ['merges', 'avoided as committed'],
  /** Clean merges of the `peer` that became conflicts, and those of them that people had changed. */
  conflictsAdded: ['merges', 'conflicts added'],
  addedWherePeopleChanged: ['merges', 'added where people changed'],
  /** Clean, with other bytes than people committed, where the `peer` is in conflict or has their bytes. */
  wrongMergesIntroduced: ['merges', 'wrong merges introduced'],
  /** From the call to the result, one at a time. */
  mergeMsP50: ['ms', 'merge p50 ms'],
  mergeMsP99: ['ms', 'merge p99 ms'],
  mergeMsMax: ['ms', 'merge max ms'],
  /** Per merge, many in one stream. */
  streamedMergeMs: ['ms', 'streamed ms'],
  recordsPerSecond: ['records/s', 'records/s'],
  residentMiB: ['MiB', 'resident MiB'],
  openMs: ['ms', 'open ms'],
  snapshotOpenUs: ['us', 'snapshot us'],
  readUsP50: ['us', 'read p50 us'],
  readUsP99: ['us', 'read p99 us'],
  listMs: ['ms', 'list ms'],
  logMsP50: ['ms', 'log p50 ms'],
  logMsP99: ['ms', 'log p99 ms'],
  forkMsP50: ['ms', 'fork p50 ms'],
  forkMsP99: ['ms', 'fork p99 ms'],
  /** One operation on the files of a workspace, from the call to its end. */
  workspaceMs: ['ms', 'ms'],
  /** Files on disk that are missing, not byte for byte what they should be, or not asked for. */
  wrongFiles: ['files', 'wrong files'],
  /** One run from its start to its end. */
  wallSeconds: ['s', 'wall s'],
  /** Processor time of a run, of all its processes. */
  cpuSeconds: ['s', 'CPU s'],
  /** The most memory that all processes of a run had resident together. */
  peakResidentMiB: ['MiB', 'peak resident MiB'],
  /** Allocated blocks of everything that keeps a history. */
  storeMiB: ['MiB', 'store MiB'],
  /** Of the size of git's own pack of the same history. */
  ratioToPackedSize: ['times', 'of git’s pack'],
  /** Of git's commits, those that are missing or have another tree. */
  wrongTrees: ['commits', 'wrong trees'],
  /** Of git's branches and tags, those that are missing or stand elsewhere. */
  wrongRefs: ['refs', 'wrong refs'],
  /** Of git's objects, those that are missing. */
  missingObjects: ['objects', 'missing objects'],
  /** Versions of files that were read with other bytes than git has. */
  wrongReads: ['files', 'wrong reads'],
  /** Places that a person should look at, and what is only told. */
  findings: ['places', 'findings'],
  findingsNoted: ['places', 'notes'],
  /** Of all tests, those that were passed. */
  score: ['share', 'score'],
  /** Of the score, what a commit took away. */
  scoreLost: ['share', 'score lost'],
  testsPassed: ['tests', 'passed'],
  testsTotal: ['tests', 'of'],
  /** Of records of SQL tests that were asked: another result, refused, the engine ended, took too long; and what was not asked. */
  recordsWrong: ['records', 'wrong'],
  recordsFailed: ['records', 'errors'],
  recordsCrashed: ['records', 'crashed'],
  recordsTimedOut: ['records', 'timed out'],
  recordsSkipped: ['records', 'skipped'],
  /** Building a snapshot, and asking what was built. */
  buildSeconds: ['s', 'build s'],
  scoreSeconds: ['s', 'score s'],
  /** From the run's start to the first point that has the workload's share. */
  minutesToShare: ['min', 'minutes'],
  commitsToShare: ['commits', 'commits'],
} as const;

export type Metric = keyof typeof table;

export const isMetric = (name: string): name is Metric => Object.hasOwn(table, name);

export const unitOf = (metric: Metric): string => table[metric][0];

/** For the head of a column. */
export const titleOfMetric = (metric: Metric): string => table[metric][1];
