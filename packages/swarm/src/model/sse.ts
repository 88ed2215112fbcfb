/**
 * The `data` of each event of a server-sent event stream, and undefined for a
 * comment (a ping). Lines end in LF, CRLF or CR; several data lines are joined.
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    // A CR at the very end may be half of a CRLF: left for the next piece.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n');
        data = [];
      } else if (line.startsWith(':')) {
        yield undefined;
      } else if (line.startsWith('data:')) {
        data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      }
    }
  }
  const last = rest.replace(/\r$/, '');
  if (last.startsWith('data:')) data.push(last.slice(last.startsWith('data: ') ? 6 : 5));
  if (data.length > 0) yield data.join('\n');
}
