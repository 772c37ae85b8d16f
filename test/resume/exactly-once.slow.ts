// npm run test:faults -- resume has a failure at each call.
import { exactlyOnceTest } from "./support/exactly-once.ts";

exactlyOnceTest(8);
exactlyOnceTest(6, { mode: "pipelined", lag: 2, cohorts: 2 });
