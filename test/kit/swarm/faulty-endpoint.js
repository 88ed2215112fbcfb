// An endpoint on loopback before another one: every nth request meets the next fault of the list.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const chunk = (value) => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
const delta = (value, finish = null) => ({ choices: [{ index: 0, delta: value, finish_reason: finish }] });
const stream = (response, ...chunks) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const one of chunks) response.write(chunk(one));
};
const call = (text) => delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: text } }] });

/** What servers really do; the name of each is noted. */
export const faults = {
  'too many': (response) => response.writeHead(429, { 'retry-after': '0' }).end('{"error":{"message":"slow down"}}'),
  overloaded: (response) => response.writeHead(503).end('{"error":{"message":"overloaded"}}'),
  reset: (response) => response.destroy(),
  cut: (response) => {
    stream(response, delta({ content: 'I wi' }));
    setTimeout(() => response.destroy(), 5);
  },
  silent: (response) => stream(response, delta({ content: 'hm' })),
  'no stream': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Login</h1>'),
  'error inside': (response) => {
    stream(response, delta({ content: 'so' }), { error: { code: 502, message: 'upstream' } });
    response.end();
  },
  'no JSON': (response) => {
    stream(response, delta({ content: 'so' }), '{"choices":[{');
    response.end();
  },
  'half a call': (response, bytes) => {
    const usage = { prompt_tokens: Math.ceil(bytes / 4), completion_tokens: 30 };
    stream(response, call('{"path":"hot'), delta({}, 'tool_calls'), { choices: [], usage }, '[DONE]');
    response.end();
  },
};

/** Gives the base URL. `noted`: a file that outlives the process, a line a fault. */
export async function faultyEndpoint(behind, noted, every) {
  const names = Object.keys(faults);
  const before = existsSync(noted) ? readFileSync(noted, 'utf8').split('\n').length - 1 : 0;
  let [requests, met] = [0, before];
  const respond = async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    requests += 1;
    if (requests % every === 0) {
      const name = names[met % names.length];
      met += 1;
      appendFileSync(noted, `${name}\n`);
      return faults[name](response, Buffer.concat(pieces).length);
    }
    try {
      const answer = await fetch(`${behind}/chat/completions`, { method: 'POST', body: Buffer.concat(pieces) });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
      for await (const piece of answer.body) response.write(piece);
      response.end();
    } catch {
      response.destroy();
    }
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close };
}
