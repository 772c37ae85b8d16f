import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { draw } from "../../benchmarks/train/fuzz/draw.ts";
import { mutationComplaints } from "../../benchmarks/train/fuzz/mutate.ts";
import { openPlace, type Place } from "../../benchmarks/train/fuzz/place.ts";
import { tryOut } from "../../benchmarks/train/fuzz/trial.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

// First configurations of `npm run fuzz:train -- --bigram`.
const directory = temporaryDirectory();
let place: Place;

beforeAll(async () => {
  place = await openPlace(directory, { withCode: false, isBigram: true });
});
afterAll(() => place.close());

test("a random configuration trains, twice to the same bits, on from a checkpoint, and under any token budget alike", async () => {
  expect(await tryOut(draw("fuzz/0/0", place), place)).toEqual({ kind: "trained", complaints: [] });
}, 120_000);

test("broken in one place they are refused, with code, line, column and the nearest name", async () => {
  for (let i = 0; i < 10; i++)
    expect([i, await mutationComplaints(draw(`fuzz/0/${i}`, place), place, 8)]).toEqual([i, []]);
});
