import { test } from "@jest/globals";
import { checkInterleavings } from "./support/interleavings.ts";

test("a store agrees with its model over interleavings of leases, commits, takes, refusals and crashes", () => {
  checkInterleavings(7, 40);
});
