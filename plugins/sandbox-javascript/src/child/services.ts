import type { CallHost } from "../guest/start.ts";
import { parseUrl } from "./parse-url.ts";
import { partText } from "./snapshot.ts";

/** A function for isolates: what begins with a colon is answered here, and all else by `callHost`. A callback for each service would cost each isolate time. */
export function withServices(callHost: CallHost): CallHost {
  return (target, argsText) => {
    if (target === ":url") return parseUrl(argsText);
    return target === ":part" ? partText(argsText) : callHost(target, argsText);
  };
}
