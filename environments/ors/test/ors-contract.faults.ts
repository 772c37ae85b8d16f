// npm run test:faults -- ors: the contract with the checks that take longer, as `mrlm check` makes them where a plugin needs no server.
import { contract } from "./support/contract.ts";

await contract(true);
