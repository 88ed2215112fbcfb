declare module 'diff3' {
  interface Agreed<T> {
    readonly ok: readonly T[];
    readonly conflict?: undefined;
  }
  interface Disputed<T> {
    readonly ok?: undefined;
    readonly conflict: {
      readonly a: readonly T[];
      readonly aIndex: number;
      readonly o: readonly T[];
      readonly oIndex: number;
      readonly b: readonly T[];
      readonly bIndex: number;
    };
  }
  /** Merges `a` and `b`, both made from `original`. Quadratic in time and memory in the worst case. */
  function diff3Merge<T>(a: readonly T[], original: readonly T[], b: readonly T[]): (Agreed<T> | Disputed<T>)[];
  export = diff3Merge;
}
