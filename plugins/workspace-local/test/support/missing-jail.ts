import { detectJail } from "@mrlm/sandbox";

const { bubblewrap, missing } = await detectJail();

/** Reason why this machine has no workspaces; `undefined` if it has. */
export const missingJail = bubblewrap === undefined ? missing[0]?.reason : undefined;
