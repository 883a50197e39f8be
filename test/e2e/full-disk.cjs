// Loaded into the command by tests (NODE_OPTIONS=--require): from the n-th write to a file on (FULL_FROM), or to standard
// output (FULL_OUTPUT), the disk is full. The product knows nothing of it.
const fs = require("node:fs");
const from = Number(process.env.FULL_FROM ?? Number.POSITIVE_INFINITY);
let written = 0;
let isWithin = false;
for (const name of ["writeSync", "writeFileSync"]) {
  const original = fs[name];
  fs[name] = (file, ...rest) => {
    // A whole file may be written by the other one, and counts once.
    if (isWithin) return original(file, ...rest);
    const isFull =
      file === 1 ? process.env.FULL_OUTPUT !== undefined : (typeof file === "string" || file > 2) && ++written >= from;
    if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    isWithin = true;
    try {
      return original(file, ...rest);
    } finally {
      isWithin = false;
    }
  };
}
