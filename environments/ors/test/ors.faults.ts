// npm run test:faults -- ors: 50 cases of each fault, of which npm test has one.
import { faultTests } from "./support/fault-tests.ts";

faultTests(50);
