import type { Plugin } from "@mrlm/spec";

/** A plugin, whatever its own options are. */
// oxlint-disable-next-line typescript/no-explicit-any -- a plugin consumes its options as well as it produces them, so no type but this covers all
export type AnyPlugin = Plugin<any>;
