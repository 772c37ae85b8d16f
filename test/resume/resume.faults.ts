// npm run test:faults -- resume: 60 kills in runs that play episodes. npm run test:resume kills all kinds of runs.
import { killTests } from "./support/kill-tests.ts";
import { playingScenarios } from "./support/scenarios.ts";

killTests(playingScenarios, Number(process.env["RESUME_KILLS"] ?? 12));
