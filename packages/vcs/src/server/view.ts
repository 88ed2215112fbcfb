import type { Hono } from 'hono';
import type { Env } from './answers.ts';

/** No script, style or picture from elsewhere; no page that frames this one. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Mound</title>
<link rel="stylesheet" href="view.css">
<header><h1>Mound</h1><p id="about">…</p></header>
<form id="door" hidden><label>Token <input id="token" type="password" autocomplete="off"></label> <button>Open</button>
<p id="refusal" role="alert"></p></form>
<main id="rooms" hidden>
<section aria-labelledby="h-events"><h2 id="h-events">What happens</h2><ol id="events"></ol></section>
<section aria-labelledby="h-conflicts"><h2 id="h-conflicts">Open conflicts</h2><ul id="conflicts"></ul></section>
<section aria-labelledby="h-files"><h2 id="h-files">Files</h2><input id="filter" type="search" placeholder="part of a path" aria-label="part of a path"><ul id="files"></ul><pre id="file" tabindex="0" hidden></pre></section>
</main>
<script src="view.js"></script>
</html>
`;

const style = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{margin:0 auto;max-width:72rem;padding:0 1rem 3rem}
header{display:flex;gap:1rem;align-items:baseline;flex-wrap:wrap}
h1{font-size:1.3rem}h2{font-size:1rem;margin:1.5rem 0 .3rem}
#about{opacity:.75}ol,ul{list-style:none;margin:0;padding:0}
#events,#files{max-height:22rem;overflow:auto;border:1px solid #8885;border-radius:.4rem;padding:.3rem .6rem}
li{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
li b{display:inline-block;min-width:9.5rem;font-weight:600}li time{opacity:.65;margin-right:.6rem;font-variant-numeric:tabular-nums}
button.path{all:unset;cursor:pointer}button.path:focus-visible{outline:2px solid}
pre{overflow:auto;max-height:30rem;border:1px solid #8885;border-radius:.4rem;padding:.6rem}
#refusal{color:#b00020}@media(prefers-color-scheme:dark){#refusal{color:#ff8a80}}
`;

/** All that agents wrote is set as text, never as markup. */
const script = `'use strict';
const at = (id) => document.getElementById(id);
const line = (...parts) => { const li = document.createElement('li'); li.append(...parts); return li; };
const make = (tag, text, name) => { const e = document.createElement(tag); e.textContent = text; if (name) e.className = name; return e; };
let token = new URLSearchParams(location.hash.slice(1)).get('token') ?? sessionStorage.getItem('token');
history.replaceState(null, '', location.pathname);
const ask = async (path, more = {}) => {
  const response = await fetch(path, { ...more, headers: { authorization: 'Bearer ' + token, ...more.headers } });
  if (response.ok) return response;
  const { message } = await response.json().catch(() => ({ message: response.statusText }));
  throw Object.assign(new Error(message), { status: response.status });
};
const json = async (path) => (await ask(path)).json();
const told = (e) => [e.path, e.message, e.conflict, e.key, e.reason, e.paths?.join(', ')].filter(Boolean).join('  ');
const shownMax = 500;
function show(e) {
  const when = make('time', new Date(e.time).toLocaleTimeString());
  at('events').prepend(line(when, make('b', e.kind), ' ' + (e.agent ?? e.author ?? '') + '  ' + told(e)));
  while (at('events').children.length > shownMax) at('events').lastChild.remove();
}
let due = 0;
function soon() { if (!due) due = setTimeout(async () => { due = 0; await state().catch(() => undefined); }, 500); }
let files = [];
function list() {
  const part = at('filter').value;
  at('files').replaceChildren(...files.filter(({ path }) => path.includes(part)).slice(0, 1000).map(({ path, size }) => {
    const button = make('button', path + '  ' + size + ' B', 'path');
    button.onclick = async () => { at('file').hidden = false; at('file').textContent = await (await ask('v1/file?path=' + encodeURIComponent(path))).text(); };
    return line(button);
  }));
}
async function state() {
  const [repo, conflicts, listed] = await Promise.all([json('v1/repo'), json('v1/conflicts'), json('v1/files')]);
  at('about').textContent = 'repository ' + repo.repoId + ', seq ' + repo.seq + ', ' + listed.files.length + ' files, as ' + repo.token.name;
  files = listed.files;
  list();
  at('conflicts').replaceChildren(...(conflicts.conflicts.length ? conflicts.conflicts.map((c) =>
    line(make('b', c.id), (c.author.agent ?? c.author.name) + '  ' + c.asked.map(({ path }) => path).join(', '))) : [line('none')]));
}
async function follow(from) {
  const response = await ask('v1/events?from=' + from, { headers: { accept: 'text/event-stream' } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\\n\\n');
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split('\\n').filter((l) => l.startsWith('data: ')).map((l) => l.slice(6)).join('\\n');
      if (data) { show(JSON.parse(data)); soon(); }
    }
  }
}
async function open() {
  try {
    await state();
  } catch (error) {
    at('door').hidden = false; at('rooms').hidden = true; at('refusal').textContent = token ? error.message : '';
    return;
  }
  sessionStorage.setItem('token', token);
  at('door').hidden = true; at('rooms').hidden = false;
  const { seq } = await json('v1/repo');
  for (;;) {
    await follow(Math.max(0, seq - 200)).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    at('events').replaceChildren();
  }
}
at('filter').oninput = list;
at('door').onsubmit = (event) => { event.preventDefault(); token = at('token').value.trim(); open(); };
open();
`;

/** The web view: one page that reads what its reader's token allows. */
export function addView(app: Hono<Env>): void {
  const files: readonly (readonly [string, string, string])[] = [
    ['/', 'text/html; charset=utf-8', page],
    ['/view.css', 'text/css; charset=utf-8', style],
    ['/view.js', 'text/javascript; charset=utf-8', script],
  ];
  for (const [path, type, text] of files) {
    const headers = {
      'content-type': type,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    };
    app.get(path, () => new Response(text, { headers }));
  }
}
