import type { Logger } from "@mrlm/spec";

const nothing = (): void => undefined;

/** Logger that discards all messages: the default, and for tests. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
