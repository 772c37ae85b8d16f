export { shown, visible } from "./format.ts";
export { htmlReport } from "./report/html-report.ts";
export { PageSeat } from "./page-seat.ts";
export { serveUi } from "./serve-ui.ts";
export { comparisonTable, resultTable } from "./evaluation-tables.ts";
