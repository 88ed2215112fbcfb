import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { readTranscript } from '@mound/swarm';

import { cut, type CheckReport, type Finding } from './finding.ts';
import type { LandedFile } from './landed-file.ts';
import { findingsOf, lineAt, type Hit, type TextRule } from './new-hits.ts';

const rule =
  'Commands that fetch, in transcripts, scripts and manifests or started by code, and code that imports or calls what opens connections; addresses in texts are notes. Not seen: what a program does at run time, and agents without a transcript';

interface Pattern {
  readonly in: RegExp;
  readonly find: RegExp;
}

const script = /\.(?:[cm]?[jt]sx?)$/i;
const code =
  /\.(?:[cm]?[jt]sx?|rs|py|go|c|cc|cpp|h|hpp|java|kt|cs|rb|php|sh|bash|zig|swift)$|(?:^|\/)(?:Makefile|Dockerfile|build\.rs)$/i;

const calls: readonly Pattern[] = [
  { in: script, find: /\bfetch\s*\(|\bnew\s+(?:XMLHttpRequest|WebSocket|EventSource)\b/g },
  { in: script, find: /(?:from\s*|\brequire\s*\(\s*|\bimport\s*\(\s*)['"](?:node:)?(?:https?|http2|net|tls|dgram|dns|undici|axios|got|node-fetch|ws)['"]/g }, // prettier-ignore
  {
    in: /\.py$/i,
    find: /^\s*(?:from\s+|import\s+(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*)(?:socket|ssl|urllib\d?|requests|httpx|aiohttp|http\.client|ftplib|smtplib)\b/gm,
  },
  { in: /\.rs$/i, find: /\b(?:std|tokio)::(?:net\b|\{[^}]*\bnet\b)|\b(?:reqwest|hyper|ureq|curl)::/g },
  { in: /\.go$/i, find: /"net(?:\/\w+)*"/g },
  { in: /\.(?:c|cc|cpp|h|hpp)$/i, find: /#\s*include\s*<(?:sys\/socket|netinet\/\w+|netdb|curl\/\w+)\.h>/g },
  { in: /\.(?:java|kt)$/i, find: /\bjava\.net\.\w+/g },
  { in: /\.cs$/i, find: /\bSystem\.Net\b/g },
  { in: /\.php$/i, find: /\b(?:curl_init|fsockopen|stream_socket_client)\s*\(/g },
  { in: /\.swift$/i, find: /\bURLSession\b/g },
  { in: /\.zig$/i, find: /\bstd\.(?:net|http)\b/g },
  { in: /\.rb$/i, find: /\brequire\s+['"](?:socket|net\/\w+|open-uri)['"]/g },
];

const programs = 'curl|wget|nc|ncat|netcat|telnet|ssh|scp|sftp|rsync|ftp|ping|nslookup|dig';
const fetching: readonly RegExp[] = [
  new RegExp(`(?<=(?:^|[;&|(\`'"])\\s*|\\b(?:sudo|xargs|then|do|exec|time)\\s+)(?:${programs})\\s+[^\\s=(:)]`, 'gm'),
  /\bgit\s+(?:clone|fetch|pull|push|ls-remote|submodule\s+update)\b/g,
  /\b(?:npm|pnpm|yarn|bun)\s+(?:i|ci|install|add|update|view)\b|\bnpx\s+(?!--no-install)\S+/g,
  /\bpip3?\s+(?:install|download)\b|\bcargo\s+(?:install|add|fetch|update)\b|\bgo\s+(?:get|install)\b|\bgem\s+install\b/g,
  /\b(?:apt|apt-get|dnf|yum|apk|brew)\s+(?:-\S+\s+)*(?:install|add|update)\b/g,
];
/** A program that fetches, started by code: the first word of what a call is given, alone or with what stands behind it. */
const started = new RegExp(
  `\\b(?:exec\\w*|spawn\\w*|system|popen|run|call|check_(?:call|output)|Command(?:::new)?)\\s*\\(\\s*\\[?\\s*["'\`](?:${programs}|git\\s+(?:clone|fetch|pull|push))(?=["'\`\\s])`,
  'gi',
);
const shellFile =
  /\.(?:sh|bash|zsh|ksh|mk)$|(?:^|\/)(?:(?:GNU)?Makefile|Dockerfile|justfile)(?:\.\w+)?$|(?:^|\/)package\.json$/i;
const shebang = /^#!.*\b(?:ba|z|k|da)?sh\b/;
const address = /\bhttps?:\/\/[^\s"'`<>)\]]+/g;

const hitsOf = (weight: Hit['weight'], what: string, text: string, find: RegExp): Hit[] =>
  [...text.matchAll(find)].map(({ 0: words, index }) => ({ weight, what, words, line: lineAt(text, index) }));

/** What opens connections, or fetches, in a file. */
export const networkRule: TextRule = (path, text) => {
  const found = calls.flatMap(({ in: where, find }) =>
    where.test(path) ? hitsOf('finding', 'code that connects', text, find) : [],
  );
  const isShell = shellFile.test(path) || shebang.test(text);
  const begun = !isShell && code.test(path) ? hitsOf('finding', 'code that starts what fetches', text, started) : [];
  const shell = isShell ? fetching.flatMap((find) => hitsOf('finding', 'script that fetches', text, find)) : [];
  const addresses = code.test(path) ? hitsOf('note', 'address in code', text, address) : [];
  return [...found, ...begun, ...shell, ...addresses];
};

/** What a command line would reach the network by; undefined: nothing that is known. */
export function fetchIn(command: string): string | undefined {
  for (const find of [...fetching, address, ...calls.map(({ find: one }) => one)]) {
    const [found] = command.match(find) ?? [];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Transcripts below a directory. */
export function transcriptsBelow(dir: string): string[] {
  if (!existsSync(dir)) return [];
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.jsonl')).map((name) => join(dir, name)).toSorted(); // prettier-ignore
}

interface Ran {
  readonly findings: Finding[];
  readonly commands: number;
}

function commandsOf(file: string): Ran {
  const findings: Finding[] = [];
  let commands = 0;
  let who = '';
  for (const line of readTranscript(file).lines) {
    if (line.kind === 'start') who = [line.agent, line.role, line.model, line.task].filter(Boolean).join(', ');
    if (line.kind !== 'message' || line.message.role !== 'assistant') continue;
    for (const call of line.message.calls) {
      const { command } = (call.arguments ?? {}) as { readonly command?: unknown };
      if (call.name !== 'run' || typeof command !== 'string') continue;
      commands++;
      const found = fetchIn(command);
      const place = file.split('/').slice(-2).join('/');
      if (found !== undefined)
        findings.push({ weight: 'finding', what: 'command that fetches', place, evidence: cut(command), who });
    }
  }
  return { findings, commands };
}

/** Attempts to reach a network, made or written down. */
export function networkCheck(
  files: readonly LandedFile[],
  transcripts: readonly string[],
  now: (path: string) => string | undefined,
): CheckReport {
  const ran = transcripts.map(commandsOf);
  const commands = ran.reduce((sum, one) => sum + one.commands, 0);
  const found = [...ran.flatMap(({ findings }) => findings), ...findingsOf(networkRule, files, now)];
  return {
    check: 'network',
    rule,
    looked: `${commands} commands in ${transcripts.length} transcripts, ${files.length} changes of files`,
    skipped: transcripts.length === 0 ? 'no transcript was there: what agents ran is not known' : undefined,
    findings: found,
  };
}
