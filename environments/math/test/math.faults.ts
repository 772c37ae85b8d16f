// npm run test:faults -- math: 200 tasks of each family, of which npm test attacks a few.
import { attackTests } from "./support/attacks.ts";

attackTests(200);
