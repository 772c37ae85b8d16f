/**
 * Programs that show what the right column of a table states, by the left cell of the row. A text is a command of `mrlm`: end-to-end tests and the suite of the
 * life cycle run these.
 */
export type Rows = Readonly<Record<string, (() => Promise<void>) | string>>;
