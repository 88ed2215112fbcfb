/** No lone surrogate: as UTF-8 it would become U+FFFD, so two different texts could become one. */
export function isWellFormed(text: string): boolean {
  // Native since Node 20; the type library that this compiles against is older.
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}
