// Entry of the encodings alone, for the wire: it loads no database.
export { decodeJson, encodeJson } from "./json.ts";
export { decodeRuns, encodeRuns } from "./runs.ts";
