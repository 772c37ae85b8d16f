import { expect, test } from "@jest/globals";
import { waitingNotice } from "../src/services/waiting-notice.ts";

test("a run that no process trains for 10 s is reported once, and again after a process has trained it", () => {
  const lines: string[] = [];
  let now = 0;
  const look = waitingNotice(
    "runs/x",
    (line) => lines.push(`${now}: ${line}`),
    () => now,
  );
  const looks = (isTrained: boolean, seconds: number): void => {
    for (let i = 0; i < seconds; i++, now += 1000) look(isTrained);
  };
  looks(true, 20);
  looks(false, 9);
  looks(true, 1);
  looks(false, 30);
  looks(true, 1);
  looks(false, 15);
  const line = "no process trains runs/x: waiting for mrlm train --resume";
  expect(lines).toEqual([`41000: ${line}`, `72000: ${line}`]);
});
