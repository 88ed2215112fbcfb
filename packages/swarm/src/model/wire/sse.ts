export interface ServerEvent {
  /** Its `event` field; empty where it has none. */
  readonly name: string;
  readonly data: string;
}

/** Characters of one event; more is no stream of ours. */
const eventCharsMax = 64 * 1024 * 1024;

/**
 * The events of a server-sent event stream, and undefined for a comment (a
 * ping). Lines end in LF, CRLF or CR; several data lines are joined. Bytes may
 * be cut anywhere.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent | undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let name = '';
  let held = 0;
  const take = (line: string): void => {
    if (line.startsWith('data:')) data.push(valueOf(line, 5));
    else if (line.startsWith('event:')) name = valueOf(line, 6);
  };
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    // A CR at the very end may be half of a CRLF: left for the next piece.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield { name, data: data.join('\n') };
        data = [];
        name = '';
        held = 0;
      } else if (line.startsWith(':')) {
        yield undefined;
      } else {
        held += line.length;
        take(line);
      }
    }
    if (held + rest.length > eventCharsMax) throw new RangeError('an event of the stream is too large');
  }
  take(rest.replace(/\r$/, ''));
  if (data.length > 0) yield { name, data: data.join('\n') };
}

const valueOf = (line: string, at: number): string => line.slice(line[at] === ' ' ? at + 1 : at);
