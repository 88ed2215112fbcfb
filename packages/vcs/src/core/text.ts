/** Lines of a content, the last one counted whether it ends or not. */
export function countLines(content: Uint8Array): number {
  let count = 0;
  for (let end = content.indexOf(0x0a); end >= 0; end = content.indexOf(0x0a, end + 1)) count++;
  return content.length > 0 && content.at(-1) !== 0x0a ? count + 1 : count;
}

/** No lone surrogate: as UTF-8 it would become U+FFFD, so two different texts could become one. */
export function isWellFormed(text: string): boolean {
  // Native since Node 20; the type library that this compiles against is older.
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
