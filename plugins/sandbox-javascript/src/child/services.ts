import type { CallParent } from "../isolate/start.ts";
import { parseUrl } from "./parse-url.ts";
import { partText } from "./snapshot.ts";

/** Makes the callback of isolates: targets that begin with a colon are served here, all others by `callParent`. One callback costs less than several. */
export function withServices(callParent: CallParent): CallParent {
  return (target, argsText) => {
    if (target === ":url") return parseUrl(argsText);
    return target === ":part" ? partText(argsText) : callParent(target, argsText);
  };
}
