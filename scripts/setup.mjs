// npm run setup: from a fresh clone to a working `mrlm`.
import { script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";

await script(async () => {
  await setup();
});
