/** Proposition of a debate, with what both sides know and with points that a good debate makes. */
export interface Proposition {
  /** One sentence that a side can be for or against. */
  readonly question: string;
  /** Facts that both sides receive. */
  readonly background: string;
  /** Points for the proposition, for the judge alone. */
  readonly pro: readonly string[];
  readonly con: readonly string[];
}
