import { storeContract } from "./contract/store-contract.ts";
import { FilePlace, ServedPlace } from "./contract/places.ts";

storeContract("a file of SQLite", { place: async () => new FilePlace(), interleavings: 8, groups: 150 });
storeContract("a store behind a server", { place: async () => new ServedPlace(), interleavings: 3, groups: 20 });
