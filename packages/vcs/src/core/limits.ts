/** Every bound of the store in one place. Exceeding one is a typed rejection that names it. */
export const limits = {
  /** Bytes of a new path's UTF-8 form; an import takes what git holds. */
  pathBytesMax: 1024,
  /** Bytes of one blob. */
  blobSizeBytesMax: 256 * 1024 * 1024,
  /** Changes in one intent from the API; an import may go beyond it. */
  changesPerIntentMax: 100_000,
  /** Bytes of all contents of one intent together. */
  intentSizeBytesMax: 1024 * 1024 * 1024,
  /** UTF-8 bytes of a message, a rationale. */
  messageBytesMax: 1024 * 1024,
  /** UTF-8 bytes of an operation id, a task, a name, a model, a role. */
  nameBytesMax: 1024,
  /** UTF-8 bytes of a record key. */
  recordKeyBytesMax: 512,
  /** Bytes of a record value. */
  recordValueBytesMax: 1024 * 1024,
  recordsPerIntentMax: 10_000,
  readsPerIntentMax: 100_000,
  branchesMax: 1_000_000,
  /** UTF-8 bytes of a workspace's name. */
  workspaceNameBytesMax: 256,
  /** Milliseconds for which a path is kept for one merge that is too large to be run under the writer mutex. */
  holdMsMax: 5_000,
  /** Milliseconds for which a freeze that has an owner holds, unless it is told another time. */
  ownedFreezeMs: 10 * 60_000,
  /** Ranges that a split names. */
  splitRangesMax: 1_000_000,
  /** Milliseconds for which an intent waits for a stopped holder of the writer mutex. */
  writerWaitMsMax: 5000,
  /** The same, for a holder that runs but does not get on. */
  writerBusyMsMax: 60_000,
  /** Staged objects that one record names. */
  objectsPerRecordMax: 1000,
  /** Bytes that a purge looks for, at least: fewer would be in every second file. */
  purgeBytesMin: 4,
  /** Bytes of the body of a request to a server, but for a staged object's, whose bound is a blob's. */
  requestBytesMax: 64 * 1024 * 1024,
  /** Readers that follow the events of one server at once. */
  followersMax: 1000,
  /** Rows that one answer of a server lists. */
  rowsPerAnswerMax: 100_000,
  /** How long a staged object that nothing names stays, unless a collection is told another time. */
  objectGraceMs: 24 * 60 * 60 * 1000,
} as const;

export type LimitName = keyof typeof limits;
