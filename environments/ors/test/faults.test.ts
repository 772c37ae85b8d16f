import { faultTests } from "./support/fault-tests.ts";

faultTests(1);
