// npm run test:faults -- resume: 60 kills in runs that play episodes. npm run test:resume kills all kinds of runs.
import { exactlyOnceTest } from "./support/exactly-once.ts";
import { killTests } from "./support/kill-tests.ts";
import { playingScenarios } from "./support/scenarios.ts";

exactlyOnceTest(60);
killTests(playingScenarios, Number(process.env["RESUME_KILLS"] ?? 12));
