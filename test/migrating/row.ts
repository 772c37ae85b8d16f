/**
 * Programs that show what the right column of a table states, by the left cell of the row. A text is a command of `mrlm` that needs a registry or trains: the
 * suite of the life cycle runs it, and fails if it does not.
 */
export type Rows = Readonly<Record<string, (() => Promise<void>) | string>>;
