import { absent, type Author } from '@mound/vcs';
import type { AgentId } from '../core/ids.ts';
import { refused, type ClaimView, type Refusal } from '../tools/operations.ts';
import type { RunContext } from './run-context.ts';

/** Topics that equal peers have claimed: the first to write the record holds it, for the rest of the run. */
export async function claimTopic(context: RunContext, agent: AgentId, topic: string): Promise<Refusal | undefined> {
  const key = keyOf(context, topic);
  const author: Author = { name: agent, kind: 'agent', agent: context.agentName(agent) };
  const value = JSON.stringify({ format: 1, topic, holder: agent });
  const outcome = await context.repo.land({
    author,
    message: `claim ${topic}`,
    records: [{ key, expect: absent, value }],
  });
  if (outcome.kind !== 'rejected') return undefined;
  const holder = topicBoard(context).find((claim) => claim.topic === topic)?.holder;
  return holder === agent ? undefined : refused(`'${topic}' is held by ${holder ?? 'another'}. Claim something else.`);
}

export function topicBoard(context: RunContext): ClaimView[] {
  const records = context.repo.snapshot().records(`${context.keys.prefix}claim/`);
  return records.map(({ value }) => {
    const { topic, holder } = JSON.parse(value.toString('utf8')) as ClaimView;
    return { topic, holder };
  });
}

const keyOf = (context: RunContext, topic: string): string =>
  `${context.keys.prefix}claim/${Buffer.from(topic).toString('hex').slice(0, 200)}`;
