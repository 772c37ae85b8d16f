import type { Logger } from "@mrlm/spec";

const nothing = (): void => undefined;

/** A logger that says nothing: where none is given, and for tests. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
