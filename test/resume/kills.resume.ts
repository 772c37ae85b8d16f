import { killTests } from "./support/kill-tests.ts";
import { scenarios } from "./support/scenarios.ts";

killTests(scenarios, Number(process.env["RESUME_KILLS"] ?? 12));
