import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { seededRandom } from '../core/ports.ts';
import { git, temporaryDir } from './git-fixtures.test.kit.ts';
import { gitObjectId, type GitObjectType } from './object-id.ts';

type Bytes = string | Buffer;
/** A mode as it is written, a name, an id. */
type Entry = readonly [mode: string, name: Bytes, id: string];

const bytes = (...parts: readonly Bytes[]): Buffer =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));

const fileModes = ['100644', '100644', '100755', '120000', '100664', '100600', '100666', '100775', '100444', '0100644'];
const plainNames: readonly Bytes[] = [
  'a', 'b', 'a.b', 'a-', 'a0', 'ab', 'é', 'x y', 'tab\t', 'new\nline', '"quoted"', 'back\\slash', Buffer.from('l\xe4tin', 'latin1'),
  Buffer.from([0xff, 0xfe]), 'n'.repeat(300), '-', '#', '*', 'CON', 'A', 'e\u0301', ' ', '...', 'a ', 'nul.',
]; // prettier-ignore
/** Names that `git fsck` reports. */
const badNames: readonly Bytes[] = ['.git', '.GIT', 'git~1', '.git ', '..', '.', '.gitmodules', 'a/b', 'b/', '/a', ''];
const times = [
  '0',
  '1700000000',
  '1112911993',
  '4102444800',
  '18446744073709551616',
  '99999999999999999999',
  '-1',
  '-62135596800',
  '',
  '1e9',
  '00012',
];
const zones = ['+0000', '-0000', '+0545', '+1400', '-1200', '+051800', '--700', '-7', '0000', '+00:30', '', '+9999'];
const people: readonly Bytes[] = [
  'Ada <ada@example.invalid>', ' <>', '<>', 'No Mail', 'A <b <c>>', 'A > B <x>', '<only@mail>', 'Ada  <  ada@x  >', 'A\rB <a@b>',
  Buffer.from('J\xfcrgen <j@x>', 'latin1'), 'A <a@b>trailing', 'x <y', '', 'Ada <ada@x>\t', '\0NUL <n@x>', '>< <>',
]; // prettier-ignore
const messages: readonly Bytes[] = [
  'plain\n', 'no newline', '', '\n', '\n\nleading\n', 'crlf\r\nlines\r\n', 'a\0b\n', Buffer.from('latin1 \xe4\xff\n', 'latin1'), 'trailing   \n\n\n',
  'Task: x\nAgent: y\n', 'x'.repeat(70_000), ' indented\n', 'gpgsig not a header\n', 'ünï 漢\n',
]; // prettier-ignore
const signature = ['-----BEGIN PGP SIGNATURE-----', '', 'iQEz', '=abcd', '-----END PGP SIGNATURE-----'].join('\n ');

/** Makes repositories of what git can hold and seldom does, object by object, under a seed. */
export class OddRepo {
  readonly dir: string;
  private readonly random;
  private readonly isBad: boolean;
  private readonly blobs: string[] = [];
  private readonly trees: string[] = [];
  private readonly commits: string[] = [];
  private readonly tags: string[] = [];
  private readonly refs = new Map<string, string>();
  private readonly written = new Map<string, { readonly type: GitObjectType; readonly content: Buffer }>();

  /** `isBad`: with names and orders that `git fsck` takes for errors. */
  constructor(seed: number, isBad: boolean) {
    this.random = seededRandom(seed);
    this.isBad = isBad;
    this.dir = join(temporaryDir(), 'odd.git');
    git(temporaryDir(), ['init', '-q', '--bare', '-b', 'main', this.dir]);
    const contents = ['', 'a\n', 'b', '\0\xff', 'a\r\nb\n', 'x\n'.repeat(2000)];
    for (const content of contents) this.blobs.push(this.write('blob', Buffer.from(content, 'latin1')));
    this.trees.push(this.write('tree', Buffer.alloc(0)));
    for (let count = 0; count < 8; count++) this.trees.push(this.tree());
    const length = 3 + this.below(12);
    for (let count = 0; count < length; count++) this.commits.push(this.commit());
    for (let count = this.below(6); count > 0; count--) this.tags.push(this.tag());
    this.name();
  }

  /** Ids of all objects that some lead to, as `id type`: git itself does not walk every one of these trees. */
  reachable(tips: readonly string[]): string[] {
    const found = new Set<string>();
    const waiting = [...tips];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const { type, content } = this.written.get(id) ?? {};
      if (type === undefined || content === undefined || found.has(`${id} ${type}`)) continue;
      found.add(`${id} ${type}`);
      const text = content.toString('latin1');
      // The first line names the tree or the tag's object; parents are those lines that follow at once.
      if (type === 'tag') waiting.push(text.slice(7, 47));
      if (type === 'commit')
        waiting.push(...(/^tree .{40}\n(parent .{40}\n)*/.exec(text)?.[0].match(/[0-9a-f]{40}/g) ?? []));
      if (type === 'tree') for (const [, at] of entriesOf(content)) waiting.push(at);
    }
    return [...found].toSorted();
  }

  private below(count: number): number {
    return this.random.below(count);
  }

  private one<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  private isOne(of: number): boolean {
    return this.below(of) === 0;
  }

  private write(type: GitObjectType, content: Buffer): string {
    const id = gitObjectId(type, content);
    this.written.set(id, { type, content });
    const file = join(this.dir, 'objects', id.slice(0, 2), id.slice(2));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, deflateSync(bytes(`${type} ${content.length}\0`, content)));
    return id;
  }

  private entry(): Entry {
    const name = this.isBad && this.isOne(4) ? this.one(badNames) : this.one(plainNames);
    if (this.isOne(3)) return [this.one(['40000', '40000', '40000', '040000', '40755']), name, this.one(this.trees)];
    if (this.isOne(8)) return ['160000', name, this.one(['1', '2', 'c']).repeat(40)];
    return [this.one(fileModes), name, this.one(this.blobs)];
  }

  private tree(): string {
    const entries = Array.from({ length: this.below(7) }, () => this.entry());
    const seen = new Set<string>();
    // Twins and a wrong order are errors, too.
    const isOrdered = !this.isBad || !this.isOne(4);
    const keyOf = ([mode, name]: Entry): string =>
      `${Buffer.from(name).toString('latin1')}${/^0?4/.test(mode) ? '/' : ''}`;
    const kept = entries.filter(([, name]) => {
      const key = Buffer.from(name).toString('latin1');
      const isFirst = !seen.has(key);
      seen.add(key);
      return isFirst || !isOrdered;
    });
    if (isOrdered) kept.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    return this.write(
      'tree',
      bytes(...kept.flatMap(([mode, name, id]) => [`${mode} `, name, '\0', Buffer.from(id, 'hex')])),
    );
  }

  private identity(): Buffer {
    return bytes(this.one(people), this.isOne(8) ? '' : ' ', this.one(times), ' ', this.one(zones));
  }

  private commit(): string {
    const newest = this.commits.at(-1);
    const parents = newest === undefined || this.isOne(8) ? [] : [this.isOne(3) ? this.one(this.commits) : newest];
    // Merges, octopuses, and now and then one parent twice.
    if (parents.length > 0)
      for (let more = this.one([0, 0, 0, 1, 1, 2, 7]); more > 0; more--) parents.push(this.one(this.commits));
    const lines: Bytes[] = [`tree ${this.one(this.trees)}\n`, ...parents.map((id) => `parent ${id}\n`)];
    const headers: Bytes[] = [];
    if (!this.isOne(15)) headers.push(bytes('author ', this.identity(), '\n'));
    if (!this.isOne(15)) headers.push(bytes('committer ', this.identity(), '\n'));
    if (this.isOne(5)) headers.push(`encoding ${this.one(['ISO-8859-1', 'iso-8859-8', 'UTF-8', 'no such', ''])}\n`);
    if (this.isOne(5)) headers.push(`gpgsig ${signature}\n`);
    if (this.isOne(8)) headers.push(`gpgsig-sha256 ${signature}\n \n`);
    const [merged] = this.commits;
    if (this.isOne(8) && merged !== undefined) {
      headers.push(`mergetag object ${merged}\n type commit\n tag v1\n tagger A <a@b> 1 +0000\n \n signed\n`);
    }
    if (this.isOne(6)) headers.push(bytes('change-id ', Buffer.from([0x71, 0xff]), '\n'), 'HG:extra a:b\n');
    if (this.isOne(10)) headers.push('empty \n', 'bare\n');
    // A header twice, and parents where git does not look for them.
    if (this.isOne(8)) headers.push(this.one(headers.length > 0 ? headers : ['x y\n']));
    if (this.isOne(12) && merged !== undefined) headers.push(`parent ${merged}\n`);
    const end: Bytes[] = this.isOne(15) ? [] : ['\n', this.one(messages)];
    return this.write('commit', bytes(...lines, ...headers, ...end));
  }

  private tag(): string {
    const types = { commit: this.commits, tree: this.trees, blob: this.blobs, tag: this.tags } as const;
    const type = this.one(['commit', 'commit', 'tree', 'blob', 'tag', 'tag'] as const);
    const pool = types[type].length > 0 ? type : 'commit';
    const lines: Bytes[] = [
      `object ${this.one(types[pool])}\n`,
      `type ${pool}\n`,
      `tag ${this.one(['v1', 'other name', ''])}\n`,
    ];
    if (!this.isOne(4)) lines.push(bytes('tagger ', this.identity(), '\n'));
    if (!this.isOne(8)) lines.push('\n', this.one(messages));
    if (this.isOne(3)) lines.push(`\n${signature.replaceAll('\n ', '\n')}\n`);
    return this.write('tag', bytes(...lines));
  }

  private name(): void {
    const heads = ['main', 'topic', 'deep/er', 'ünï', 'with-dash', 'v1'];
    for (const head of heads)
      if (head === 'main' || this.isOne(2)) this.refs.set(`refs/heads/${head}`, this.one(this.commits));
    this.refs.set('refs/heads/last', this.commits.at(-1) ?? '');
    for (const id of this.tags) this.refs.set(`refs/tags/t/${this.refs.size}`, id);
    if (this.isOne(2)) this.refs.set('refs/tags/light', this.one(this.commits));
    if (this.isOne(3)) this.refs.set('refs/tags/of-blob', this.one(this.blobs));
    if (this.isOne(3)) this.refs.set('refs/tags/of-tree', this.one(this.trees));
    const lines = [...this.refs].map(([name, id]) => `${id} ${name}\n`);
    writeFileSync(join(this.dir, 'packed-refs'), `# pack-refs with: \n${lines.join('')}`);
  }
}

function* entriesOf(tree: Buffer): Generator<readonly [name: string, id: string]> {
  for (let at = 0; at < tree.length;) {
    const end = tree.indexOf(0, at);
    const [mode = '', ...name] = tree.toString('latin1', at, end).split(' ');
    at = end + 21;
    // A gitlink names a commit of another repository.
    if (mode !== '160000') yield [name.join(' '), tree.toString('hex', end + 1, at)];
  }
}
