// npm run test:faults -- sandbox-close: sandboxes that are closed while their children start.
import { expect, test } from "@jest/globals";
import { closeEarly } from "./support/close-early.ts";

test("1,200 sandboxes that are closed within 60 ms of their start wait for the end of their children", async () => {
  await expect(closeEarly(1_200, 2)).resolves.toBeUndefined();
}, 300_000);
