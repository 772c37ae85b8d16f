import { Command } from "@commander-js/extra-typings";
import { declareAccessFlags, type OptionsOf, addFlags } from "./flag-groups.ts";
import { parsePort } from "./parsers.ts";

export function declareStoreServe() {
  const serve = new Command("serve")
    .description(
      "offer the store of a run to `mrlm play --store` on other machines, with the run's configuration and the address and token of its engine",
    )
    .requiredOption("--run <run>", "the run's directory, or an episode store")
    .option("--port <port>", "0 for any free one", parsePort(), 50_052);
  const access = {
    token:
      "file with a token that every call must carry, health checks excepted; or NAME TOKEN in each line; default: store.token in the run's directory, made if it is missing, which its owner alone can read",
    clients: "clients",
    lack: "TLS",
  };
  return addFlags(serve, declareAccessFlags(access));
}
export type StoreServeOptions = OptionsOf<typeof declareStoreServe>;
