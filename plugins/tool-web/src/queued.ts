import type { ToolCallOptions } from "@mrlm/spec";

/** Waits in a queue. The time counts against no limit of a call. */
export type Queued = NonNullable<ToolCallOptions["queued"]>;

/** Waits without a call whose time could be counted. */
export const unqueued: Queued = (wait) => wait();
