import type { CallParent } from "../isolate/start.ts";
import { parseUrl } from "./parse-url.ts";
import { partText } from "./snapshot.ts";

/** A function for isolates: what begins with a colon is answered here, and all else by `callParent`. A callback for each service would cost each isolate time. */
export function withServices(callParent: CallParent): CallParent {
  return (target, argsText) => {
    if (target === ":url") return parseUrl(argsText);
    return target === ":part" ? partText(argsText) : callParent(target, argsText);
  };
}
