import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { entries, Outside, pathAttempts } from "./support/traversal.ts";

let outside: Outside;

beforeAll(async () => void (outside = await Outside.create()));
afterAll(() => outside.close());

test.each(pathAttempts("/outside"))("the path %j does not leave the root", async (path) => {
  await outside.attackPath(path.replaceAll("/outside", outside.path));
  expect(outside.through).toEqual([]);
});

test.each(Object.entries(entries))("an entry that another program placed in the root: %s", async (_name, place) => {
  await outside.attackEntry(place);
  expect(outside.through).toEqual([]);
});

// Other systems cannot detect an exchange between two steps: see "Not confined" in the README.
(process.platform === "linux" ? describe : describe.skip)("while another thread exchanges an entry and a link", () => {
  test.each(["directory", "file"] as const)("no call leaves the root: %s", async (kind) => {
    await outside.attackDuringExchange(kind, 5_000);
    expect(outside.through).toEqual([]);
  });
});

test("thousands of attempts were made, and none was through", () => {
  expect(outside.attempts).toBeGreaterThanOrEqual(2_000);
  expect(outside.through).toEqual([]);
});
