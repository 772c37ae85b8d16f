export { shown, visible } from "./format.ts";
export { htmlReport, type ReportedEpisodes } from "./report/html-report.ts";
export { serveUi, type ServeUiOptions, type UiServer } from "./serve-ui.ts";
