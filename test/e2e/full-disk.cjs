// Loaded into the command by tests (NODE_OPTIONS=--require): from the n-th write to a file on (FULL_FROM), or to standard
// output (FULL_OUTPUT), the disk is full. The product knows nothing of it.
const fs = require("node:fs");
const from = Number(process.env.FULL_FROM ?? Number.POSITIVE_INFINITY);
let written = 0;
const original = fs.writeSync;
fs.writeSync = (file, ...rest) => {
  const isFull = file === 1 ? process.env.FULL_OUTPUT !== undefined : file > 2 && ++written >= from;
  if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  return original(file, ...rest);
};
