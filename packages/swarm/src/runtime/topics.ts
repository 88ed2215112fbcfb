import { absent, version, type RecordWrite } from '@mound/vcs';
import type { TaskId } from '../core/ids.ts';
import { overlapOf } from '../core/topic.ts';
import type { TaskRequest } from '../tools/operations.ts';
import { decisionsOf } from './decisions.ts';
import type { RunContext } from './run-context.ts';
import { decodeTask } from './task-book.ts';

/** Who settles a topic already. */
export interface HeldTopic {
  readonly topic: string;
  /** What it overlaps. */
  readonly other: string;
  /** A task that decides it, or the decision. */
  readonly by: 'task' | 'decision';
  readonly id: string;
  /** The task whose planner answers for it; of a decision from elsewhere whoever its document names. */
  readonly owner: string;
  /** Of the decision. */
  readonly text?: string;
}

/** What a planner wants to settle, or to have settled below it. */
export interface TopicRequest {
  readonly planner: TaskId;
  readonly topics: readonly string[];
  /** Decisions that the request replaces. */
  readonly replaces?: readonly string[];
}

interface Claim {
  readonly owner: TaskId;
  readonly topics: readonly string[];
}

interface ClaimRecord {
  readonly format: 1;
  readonly tasks: Readonly<Record<string, Claim>>;
}

/** Claims of topics that lose against others are looked at again so often. */
export const topicTriesMax = 20;

/**
 * What live subtrees are to decide, as one record: a claim is written at the
 * version at which it was looked, so that two that overlap never both land,
 * in whatever process they were made.
 */
export class TopicClaims {
  readonly #context: RunContext;
  readonly #version: number;
  readonly #live: ReadonlyMap<TaskId, Claim>;

  constructor(context: RunContext) {
    this.#context = context;
    const snapshot = context.repo.snapshot();
    const head = snapshot.record(context.keys.topics);
    this.#version = head?.version ?? 0;
    const { tasks }: Pick<ClaimRecord, 'tasks'> = head
      ? (JSON.parse(head.value.toString('utf8')) as ClaimRecord)
      : { tasks: {} };
    const isLive = (id: string): boolean => {
      const record = snapshot.record(context.keys.task(id as TaskId));
      return record !== undefined && ['open', 'claimed'].includes(decodeTask(record.value).state);
    };
    this.#live = new Map(Object.entries(tasks).flatMap(([id, claim]) => (isLive(id) ? [[id as TaskId, claim]] : [])));
  }

  /** The first of the topics that another live subtree, or an active decision, settles. */
  held({ planner, topics, replaces }: TopicRequest, ancestors: readonly TaskId[]): HeldTopic | undefined {
    for (const [id, claim] of this.#live) {
      // What a planner was given to decide it may hand on.
      const found = id === planner || ancestors.includes(id) ? undefined : overlapOf(topics, claim.topics);
      if (found !== undefined) return { ...found, by: 'task', id, owner: claim.owner };
    }
    return this.settled(topics, replaces);
  }

  /** The first of the topics that an active decision settles. */
  settled(topics: readonly string[], replaces: readonly string[] = []): HeldTopic | undefined {
    for (const { id, owner, text, topics: settled } of decisionsOf(this.#context)) {
      const found = replaces.includes(id) ? undefined : overlapOf(topics, settled);
      if (found !== undefined) return { ...found, by: 'decision', id, owner, text };
    }
    return undefined;
  }

  /** What makes the claims of new tasks, and lets no other claim land since this was read. */
  write(owner: TaskId, tasks: readonly Pick<TaskRequest, 'id' | 'topics'>[]): RecordWrite {
    const added = tasks.flatMap(({ id, topics = [] }) => (topics.length > 0 ? [[id, { owner, topics }] as const] : []));
    const record: ClaimRecord = { format: 1, tasks: Object.fromEntries([...this.#live, ...added]) };
    const expect = this.#version === 0 ? absent : version(this.#version);
    return { key: this.#context.keys.topics, expect, value: JSON.stringify(record) };
  }
}

/** What two tasks of one delegation both are to decide, in words. */
export function twinTopics(requests: readonly Pick<TaskRequest, 'id' | 'topics'>[]): string | undefined {
  for (const [at, { id, topics = [] }] of requests.entries()) {
    for (const earlier of requests.slice(0, at)) {
      const found = overlapOf(topics, earlier.topics ?? []);
      if (found === undefined) continue;
      return `${id} and ${earlier.id} would both decide '${found.topic}' ('${found.other}'). Give it to one of them, or decide it yourself.`;
    }
  }
  return undefined;
}

/** One sentence naming the owner. */
export function heldWords({ topic, other, by, id, owner, text = '' }: HeldTopic): string {
  const same = topic === other ? `'${topic}'` : `'${topic}' (which overlaps '${other}')`;
  return by === 'task'
    ? `${same} is to be decided in ${id}, which the planner of ${owner} handed out`
    : `${same} is settled by the decision ${id} of ${owner}: ${text}`;
}
