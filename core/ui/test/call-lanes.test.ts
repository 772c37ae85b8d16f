import { expect, test } from "@jest/globals";
import { laneRows } from "../src/call-lanes.ts";

const node = (parent: number | null, isBranch = parent === null) => ({ parent, isBranch });

test("a branch has a lane of its own until its last node, and the next one takes the lane again", () => {
  // 0 is continued by 3; 1 branches from 0; 2 is another conversation; 4 branches from 3; 5 begins when the others have ended.
  const rows = laneRows([node(null), node(0, true), node(null), node(0), node(3, true), node(null)]);
  expect(rows.map(({ lane, from }) => [lane, from])).toEqual([
    [0, undefined],
    [1, 0],
    [1, undefined],
    [0, undefined],
    [1, 0],
    [0, undefined],
  ]);
  expect(rows.map(({ above, below }) => [above, below])).toEqual([
    [[], [0]],
    [[0], [0]],
    [[0], [0]],
    [[0], [0]],
    [[0], []],
    [[], []],
  ]);
});

test("200 conversations at once have 200 lanes, and as many one after the other have one", () => {
  const together = [
    ...Array.from({ length: 200 }, () => node(null)),
    ...Array.from({ length: 200 }, (_, i) => node(i)),
  ];
  const lanes = laneRows(together).map(({ lane }) => lane);
  expect([new Set(lanes).size, lanes.slice(200)]).toEqual([200, lanes.slice(0, 200)]);
  expect(new Set(laneRows(Array.from({ length: 200 }, () => node(null))).map(({ lane }) => lane)).size).toBe(1);
});
