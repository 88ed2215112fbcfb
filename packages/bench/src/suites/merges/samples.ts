import type { Metric } from '../../harness/metric.ts';
import { sampleOf, type Sample, type WorkloadFields } from '../../harness/result-file.ts';
import { medianOf, percentileOf } from '../../harness/statistics.ts';
import type { Relation, SubjectCounts } from './comparison.ts';
import type { Replay } from './replay.ts';

const textName = 'mound';

/** Of each subject what it answered and how fast; of each driver of Mound how it stands to the others. */
export function replaySamples(replay: Replay, mounds: readonly string[], workload: WorkloadFields): Sample[] {
  if (replay.merges === 0) return [];
  const samples: Sample[] = [];
  for (const [name, counts] of replay.comparison.counts) {
    const tell = (metric: Metric, ...values: readonly number[]): void => {
      samples.push(sampleOf(name, workload, metric, values));
    };
    const { clean, conflict, refused } = counts.verdicts;
    tell('cleanMerges', clean);
    tell('conflictedMerges', conflict);
    tell('refusedMerges', refused);
    if (workload['source'] === 'history') tell('changedByPeople', counts.changedByPeople);
    if (mounds.includes(name)) tell('cleanAgainstAll', counts.cleanAgainstAll);
    const ms = Float64Array.from(replay.ms.get(name) ?? []);
    tell('mergeMsP50', percentileOf(ms, 0.5));
    tell('mergeMsP99', percentileOf(ms, 0.99));
    tell('mergeMsMax', percentileOf(ms, 1));
    const streamed = replay.streamedMs.get(name) ?? [];
    if (streamed.length > 0) tell('streamedMergeMs', ...streamed);
  }
  for (const name of mounds) {
    const counts = replay.comparison.counts.get(name);
    if (counts === undefined) continue;
    for (const [peer, relations] of counts.relations) {
      samples.push(...relationSamples(name, { ...workload, peer }, relations));
    }
    if (name !== textName && replay.ms.has(textName)) {
      samples.push(...driverSamples(name, { ...workload, peer: textName }, counts));
    }
  }
  samples.push(...ratioSamples(replay, workload));
  return samples;
}

function relationSamples(name: string, workload: WorkloadFields, relations: Record<Relation, number>): Sample[] {
  const { agreed, refused, ...others } = relations;
  const answered = agreed + others['clean-here-only'] + others['clean-there-only'] + others['clean-but-different'];
  const tell = (metric: Metric, value: number): Sample => sampleOf(name, workload, metric, [value]);
  return [
    tell('agreement', answered === 0 ? 1 : agreed / answered),
    tell('cleanHereOnly', others['clean-here-only']),
    tell('cleanThereOnly', others['clean-there-only']),
    tell('cleanButDifferent', others['clean-but-different']),
    tell('refusedMerges', refused),
  ];
}

const driverSamples = (name: string, workload: WorkloadFields, { besideText }: SubjectCounts): Sample[] =>
  (Object.keys(besideText) as (keyof typeof besideText)[]).map((metric) =>
    sampleOf(name, workload, metric, [besideText[metric]]),
  );

/** How many times as fast Mound's line merge is: by the merges' medians, and by the streams of a batch. */
function ratioSamples(replay: Replay, workload: WorkloadFields): Sample[] {
  const own = replay.ms.get(textName) ?? [];
  if (own.length === 0) return [];
  const samples: Sample[] = [];
  for (const [peer, ms] of replay.ms) {
    if (peer.startsWith(textName) || ms.length === 0) continue;
    const oneByOne = { ...workload, peer, form: 'median merge, one by one' };
    samples.push(sampleOf(textName, oneByOne, 'ratioToPeer', [medianOf(ms) / medianOf(own)]));
    const streamed = replay.streamedMs.get(peer) ?? [];
    const ownStreamed = replay.streamedMs.get(textName) ?? [];
    if (streamed.length === 0) continue;
    const ratios = streamed.map((value, batch) => value / (ownStreamed[batch] ?? value));
    samples.push(sampleOf(textName, { ...workload, peer, form: 'a batch as one stream' }, 'ratioToPeer', ratios));
  }
  return samples;
}
