import type { Plugin } from "@mrlm/spec";

/** Plugin with any options. */
// oxlint-disable-next-line typescript/no-explicit-any -- a plugin consumes its options as well as it produces them, so no type but this covers all
export type AnyPlugin = Plugin<any>;
