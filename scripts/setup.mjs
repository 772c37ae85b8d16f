// npm run setup: prepares a fresh clone so that `mrlm` works.
import { script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";

await script(async () => {
  await setup();
});
