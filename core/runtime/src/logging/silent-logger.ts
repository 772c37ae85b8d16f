import type { Logger } from "@mrlm/spec";

const nothing = (): void => undefined;

/** Says nothing. */
export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
