/** A median with the range of its rounds. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export interface Bar extends Spread {
  readonly subject: string;
  readonly label: string;
  /** In place of the median, where it has a form of its own. */
  readonly says?: string;
}

interface ChartHead {
  readonly title: string;
  /** Which way is better, and what all of it has in common. */
  readonly caption: string;
  /** Logarithmic where the values lie far apart. */
  readonly isLog: boolean;
}

/** A picture of some samples, before it is drawn. */
export type Chart =
  | (ChartHead & {
      readonly kind: 'bars';
      /** By load; the heading may be empty. */
      readonly groups: readonly { readonly heading: string; readonly bars: readonly Bar[] }[];
      /** Where a line stands that tells better from worse. */
      readonly mark: number | undefined;
    })
  | (ChartHead & {
      readonly kind: 'lines';
      readonly xTitle: string;
      readonly isLogX: boolean;
      readonly series: readonly {
        readonly subject: string;
        readonly label: string;
        readonly points: readonly (Spread & { readonly x: number })[];
      }[];
    })
  | (ChartHead & {
      readonly kind: 'parts';
      readonly parts: readonly string[];
      /** Classes of the parts' colours, where they mean something. */
      readonly hues?: readonly string[];
      readonly bars: readonly {
        readonly label: string;
        readonly shares: readonly number[];
        /** Behind the bar. */
        readonly says?: string;
      }[];
    })
  | (ChartHead & {
      readonly kind: 'grid';
      readonly rowTitle: string;
      readonly columnTitle: string;
      readonly columns: readonly string[];
      /** `value` chooses the shade, from the least to the most; undefined: none. */
      readonly rows: readonly {
        readonly label: string;
        readonly cells: readonly { readonly value: number | undefined; readonly says: string }[];
      }[];
    })
  /** What a picture would say worse than words. */
  | (ChartHead & { readonly kind: 'said'; readonly says: string })
  | (ChartHead & {
      readonly kind: 'curve';
      readonly xTitle: string;
      readonly series: readonly {
        readonly label: string;
        readonly points: readonly CurveMark[];
      }[];
      /** Shares that were reached, and where. */
      readonly thresholds: readonly { readonly share: number; readonly x: number; readonly says: string }[];
      /** Numbered, from 1; what each is stands below. */
      readonly falls: readonly { readonly x: number; readonly says: string; readonly about: string }[];
    });

/** A point of a curve of scores. */
export interface CurveMark {
  readonly x: number;
  /** From 0 to 1. */
  readonly score: number;
  readonly state: string;
  readonly says: string;
}
