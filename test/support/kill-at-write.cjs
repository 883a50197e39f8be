// Loaded into the command by tests (NODE_OPTIONS=--require): dies at the n-th durable write, before or after it, and
// counts them. The product knows nothing of it.
const fs = require("node:fs");
const [nth, when] = (process.env.KILL_AT_WRITE ?? "0:before").split(":");
let count = 0;
for (const name of ["fsyncSync", "fdatasyncSync", "renameSync", "ftruncateSync", "unlinkSync"]) {
  const original = fs[name];
  fs[name] = (...args) => {
    const isIt = ++count === Number(nth);
    if (isIt && when === "before") process.kill(process.pid, "SIGKILL");
    try {
      return original(...args);
    } finally {
      if (isIt && when === "after") process.kill(process.pid, "SIGKILL");
    }
  };
}
if (process.env.COUNT_WRITES !== undefined)
  process.on("exit", () => fs.writeFileSync(process.env.COUNT_WRITES, String(count)));
