import { seededRandom } from '@mound/vcs';

import { runCommand } from '../../harness/child-process.ts';
import { gitEnvironment } from '../../subjects/git/git-repo.ts';
import { generateHistory } from '../history/generated.ts';

export interface OddHistoryShape {
  readonly seed: number;
  readonly commits: number;
  readonly files: number;
}

type Draw = ReturnType<typeof seededRandom>;
type Signal = AbortSignal;

/**
 * A seeded repository of the bench's own: a long line of ordinary edits, then side
 * lines, merges and whatever odd things whole public histories hold.
 */
export async function makeOddHistory(gitDir: string, shape: OddHistoryShape, signal: Signal): Promise<void> {
  await generateHistory(gitDir, shape, signal);
  const draw = seededRandom(shape.seed + 1);
  const git = (args: readonly string[], input?: Uint8Array): Promise<Buffer> =>
    runCommand('git', [`--git-dir=${gitDir}`, ...args], {
      cwd: gitDir,
      env: gitEnvironment(),
      signal,
      ...(input !== undefined && { input }),
    });
  const sides = Math.max(4, Math.ceil(shape.commits / 40));
  await git(['fast-import', '--quiet'], Buffer.from(sideLines(draw, shape.commits, sides), 'latin1'));
  await addRawObjects(git);
}

const zones = ['+0000', '-0730', '+0545', '+1400', '-1200'];
/** One char a byte: names and messages need not be UTF-8. */
const names = ['Ada', 'B\xf6rje', '', 'D. O. T.', '\xc5\xbd\xc3\xbcrich'];

const dataOf = (text: string): string => `data ${text.length}\n${text}\n`;
const put = (mode: string, path: string, content: string): string => `M ${mode} inline ${path}\n${dataOf(content)}`;

class Stream {
  readonly #draw: Draw;
  #text = '';
  #mark = 0;
  #time: number;

  constructor(draw: Draw, time: number) {
    this.#draw = draw;
    this.#time = time;
  }

  /** A commit on a branch; its mark. Parents after the first are merged; without any the branch goes on. */
  commit(branch: string, message: string, changes: string, parents: readonly string[] = []): string {
    this.#mark++;
    this.#time += this.#draw.below(5000) - 400;
    const name = names[this.#draw.below(names.length)] ?? '';
    const who = `${name === '' ? '' : `${name} `}<a@example.invalid> ${this.#time} ${zones[this.#draw.below(zones.length)]}`;
    const [first, ...others] = parents;
    this.#text +=
      `commit refs/heads/${branch}\nmark :${this.#mark}\nauthor ${who}\ncommitter ${who}\n${dataOf(message)}` +
      (first === undefined ? '' : `from ${first}\n`) +
      others.map((other) => `merge ${other}\n`).join('') +
      `${changes}\n`;
    return `:${this.#mark}`;
  }

  tag(name: string, at: string, message: string): void {
    this.#text += `tag ${name}\nfrom ${at}\ntagger T <t@example.invalid> ${this.#time} -0130\n${dataOf(message)}`;
  }

  get text(): string {
    return `${this.#text}done\n`;
  }
}

/** Changes that turn the kinds of things at one path into each other. */
function oddChanges(at: number): readonly (readonly [message: string, changes: string])[] {
  const dir = `odd/${at}`;
  const big = `${'a line that stays the same\n'.repeat(300)}${at}\n`;
  return [
    [
      `no newline at the end ${at}`,
      put('100644', `${dir}/thing`, `one ${at}`) + put('100755', `${dir}/run.sh`, '#!/bin/sh\n'),
    ],
    ['a file becomes a directory\n', `D ${dir}/thing\n${put('100644', `${dir}/thing/inside`, 'deep\n')}`],
    ['a directory becomes a symlink\n\n\n', `D ${dir}/thing\n${put('120000', `${dir}/thing`, '../elsewhere')}`],
    ['a symlink becomes a file', put('100755', `${dir}/thing`, `file again\r\n${at}\r\n`)],
    ['an executable becomes a gitlink', `D ${dir}/run.sh\nM 160000 ${'12'.repeat(20)} ${dir}/run.sh\n`],
    ['a name that is no UTF-8 \xe9\xff', put('100644', `"${dir}/na\\303\\251-\\377me"`, `\x00\x01binary ${at}`)],
    ['', put('100644', `${dir}/large`, big) + put('100644', `${dir}/empty`, '')],
    ['renamed', `R ${dir}/large ${dir}/a b/large\n`],
    ['all gone', `D ${dir}\n`],
  ];
}

function sideLines(draw: Draw, commits: number, sides: number): string {
  const stream = new Stream(draw, 1_650_000_000);
  let trunk = 'refs/heads/main^0';
  const back = (): string => `refs/heads/main~${draw.below(commits)}`;
  for (let side = 0; side < sides; side++) {
    const line = oddChanges(side);
    let tip = back();
    for (const [message, changes] of line.slice(0, 1 + draw.below(line.length))) {
      tip = stream.commit(`side-${side}`, message, changes, [tip]);
    }
    // Every third is left as a branch that is never merged.
    if (side % 3 === 2) continue;
    const note = put('100644', `notes/${side % 5}.md`, `note ${side}\n`.repeat(1 + draw.below(30)));
    trunk = stream.commit('main', `Merge side ${side}\n`, note, [trunk, tip]);
    if (side % 4 === 0) stream.tag(`v${side}`, trunk, side % 8 === 0 ? `Release ${side}\n` : '');
  }
  const roots = [1, 2, 3].map((root) =>
    stream.commit(`root-${root}`, `a root of its own ${root}`, put('100644', `root-${root}.txt`, `${root}\n`)),
  );
  stream.commit('main', 'an octopus\n', put('100644', 'octopus.txt', '8\n'), [trunk, ...roots]);
  return stream.text;
}

/** What only raw objects can hold: headers, encodings, odd trees, tags of tags. */
async function addRawObjects(git: (args: readonly string[], input?: Uint8Array) => Promise<Buffer>): Promise<void> {
  const text = async (args: readonly string[], input?: Uint8Array): Promise<string> =>
    (await git(args, input)).toString('latin1').trim();
  const write = (type: string, raw: string | Uint8Array): Promise<string> =>
    text(
      ['hash-object', '-t', type, '-w', '--stdin', '--literally'],
      typeof raw === 'string' ? Buffer.from(raw, 'latin1') : raw,
    );
  const main = await text(['rev-parse', 'refs/heads/main']);
  const tree = await text(['rev-parse', 'refs/heads/main^{tree}']);
  const blob = await write('blob', 'a blob of an odd tree\n');
  const entry = (mode: string, name: string, id: string): Buffer =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]);
  const empty = await write('tree', '');
  const oddTree = await write(
    'tree',
    Buffer.concat([entry('100664', 'group-writable', blob), entry('40000', 'nothing-in-it', empty)]),
  );
  const who = 'A <a@example.invalid> 1650000000 +0100';
  const head = (treeId: string, ...parents: readonly string[]): string =>
    `tree ${treeId}\n${parents.map((parent) => `parent ${parent}\n`).join('')}author ${who}\ncommitter ${who}\n`;
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n c2lnbmF0dXJl\n -----END PGP SIGNATURE-----\n';
  const tagText = `object ${main}\ntype commit\ntag merged\ntagger ${who}\n\nmerged\n`;
  const mergetag = `mergetag ${tagText.trimEnd().replaceAll('\n', '\n ')}\n`;
  const encoded = await write('commit', `${head(tree, main)}encoding iso-8859-8\n\n\xf9\xec\xe5\xed`);
  const signed = await write('commit', `${head(tree, encoded, main)}${mergetag}${signature}\nsigned\n`);
  const extra = await write('commit', `${head(oddTree, signed)}HG:extra branch:default\nextra  two spaces\n\nodd tree`);
  const noMessage = await write('commit', head(tree, extra));
  const inner = await write('tag', `object ${noMessage}\ntype commit\ntag inner\ntagger ${who}\n\ninner\n`);
  const outer = await write('tag', `object ${inner}\ntype tag\ntag outer\n\nno tagger, no end of line`);
  const ofBlob = await write('tag', `object ${blob}\ntype blob\ntag key\ntagger ${who}\n\na key\n`);
  for (const [ref, id] of [
    ['refs/heads/raw', noMessage],
    ['refs/tags/light', signed],
    ['refs/tags/outer', outer],
    ['refs/tags/of-blob', ofBlob],
  ] as const)
    await git(['update-ref', ref, id]);
}
