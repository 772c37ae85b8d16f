#!/usr/bin/env node
// Plain JavaScript that every Node can parse, so that an old version prints the message below.
const needed = [24, 11];
const [major, minor] = process.versions.node.split(".").map(Number);
if (major > needed[0] || (major === needed[0] && minor >= needed[1])) {
  await import("../dist/main.js");
} else {
  console.error(`mrlm needs Node ${needed.join(".")} or newer, and this is ${process.versions.node}.`);
  console.error('Install a newer Node, or add one to the project: "npm install --save-dev node@24", then "npx mrlm".');
  process.exitCode = 2;
}
