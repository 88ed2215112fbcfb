import { isDocumentFault, parseFrontMatter, renderFrontMatter, type DocumentFault } from '@mound/vcs';

/** What a note rests on: a file as of a version, or what of it names a symbol. */
export interface Evidence {
  readonly path: string;
  /** A FileVersion. */
  readonly version: number;
  readonly symbol?: string;
}

/** One entry of the Field Guide: what surprised somebody, and will surprise the next one. */
export interface Note {
  /** Its file is `SLUG.md`. */
  readonly slug: string;
  readonly symptom: string;
  readonly cause: string;
  /** What to do. */
  readonly remedy: string;
  readonly evidence: readonly Evidence[];
  /** The agent that wrote it last. */
  readonly by: string;
}

const form = /^(?<path>[^@#\s]+)(?:@(?<version>\d{1,15}))?(?:#(?<symbol>[\w$.:-]+))?$/;

/** Reads `PATH`, `PATH@VERSION` or either with `#SYMBOL`; undefined where it is none. `version` of a bare path is undefined. */
export function parseEvidence(
  text: string,
): (Omit<Evidence, 'version'> & { readonly version: number | undefined }) | undefined {
  const { path, version, symbol } = form.exec(text)?.groups ?? {};
  if (path === undefined) return undefined;
  return {
    path,
    version: version === undefined ? undefined : Number(version),
    ...(symbol !== undefined && { symbol }),
  };
}

export const formatEvidence = ({ path, version, symbol }: Evidence): string =>
  `${path}@${version}${symbol === undefined ? '' : `#${symbol}`}`;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Of what it says: short enough to name a file. */
export function slugOf(symptom: string): string {
  const words =
    oneLine(symptom)
      .toLowerCase()
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .match(/[a-z0-9]+/g) ?? [];
  let slug = '';
  for (const word of words) {
    const longer = slug === '' ? word : `${slug}-${word}`;
    if (longer.length > 60) break;
    slug = longer;
  }
  return slug === '' ? (words[0]?.slice(0, 60) ?? 'note') : slug;
}

export function renderNote({ symptom, cause, remedy, evidence, by }: Note): string {
  const fields = {
    symptom: oneLine(symptom),
    cause: oneLine(cause),
    do: oneLine(remedy),
    evidence: evidence.map(formatEvidence),
    by,
  };
  return renderFrontMatter(fields, '');
}

/** Reads an entry; where it cannot be read, what is wrong and where. */
export function parseNote(path: string, source: string): Note | DocumentFault {
  const read = parseFrontMatter(path, source);
  if (isDocumentFault(read)) return read;
  const text = (name: string): string => {
    const value = read.fields.get(name)?.value;
    return typeof value === 'string' ? value : '';
  };
  const named = read.fields.get('evidence');
  const evidence: Evidence[] = [];
  for (const one of typeof named?.value === 'string' ? [] : (named?.value ?? [])) {
    const found = parseEvidence(one);
    if (found?.version === undefined) return { path, line: named?.line ?? 1, message: `'${one}' is not PATH@VERSION` };
    evidence.push({ ...found, version: found.version });
  }
  const [symptom, cause, remedy] = [text('symptom'), text('cause'), text('do')];
  const missing = Object.entries({ symptom, cause, do: remedy }).find(([, value]) => value === '');
  if (missing !== undefined) return { path, line: 1, message: `the head has no '${missing[0]}'` };
  const slug = path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, '');
  return { slug, symptom, cause, remedy, evidence, by: text('by') };
}

/** Whether what a note rests on has changed; undefined contents are absent. Pure. */
export function isOutdated({ symbol }: Evidence, then: string | undefined, now: string | undefined): boolean {
  if (then === undefined || now === undefined || symbol === undefined) return then !== now;
  const word = new RegExp(`(?<![\\w$])${symbol.replaceAll(/[$.*+?^(){}|[\]\\]/g, '\\$&')}(?![\\w$])`);
  const linesWith = (text: string): string =>
    text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => word.test(line))
      .join('\n');
  return linesWith(then) !== linesWith(now);
}
