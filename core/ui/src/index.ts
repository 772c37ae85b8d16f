export { shown, visible } from "./format.ts";
export { htmlReport } from "./report/html-report.ts";
export { serveUi, type UiServer } from "./serve-ui.ts";
