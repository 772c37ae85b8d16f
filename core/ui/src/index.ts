export { shown, visible } from "./format.ts";
export { htmlReport } from "./report/html-report.ts";
export { serveUi } from "./serve-ui.ts";
