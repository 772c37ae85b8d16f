import { expect, test } from "@jest/globals";
import { isLoopback } from "../src/services/server-access.ts";
import { ACCESS_FAULTS } from "./support/access-faults.ts";
import { expectRefusals } from "./support/expect-refusals.ts";

test.each(Object.entries(ACCESS_FAULTS))("mrlm serve refuses %s before a port opens", async (name, draw) => {
  await expectRefusals(name, 1, draw);
});

test.each([
  ["127.0.0.1", true],
  ["127.8.9.10", true],
  ["localhost", true],
  ["::1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["127.0.0.1.example.org", false],
  ["10.127.0.0", false],
  ["", false],
])("only this machine reaches %j: %p", (host, is) => {
  expect(isLoopback(host)).toBe(is);
});
