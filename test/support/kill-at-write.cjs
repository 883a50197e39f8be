// Loaded into the command by tests (NODE_OPTIONS=--require): dies at the n-th durable write, before or after it, and
// counts them. The product knows nothing of it.
const fs = require("node:fs");
const [nth, when] = (process.env.KILL_AT_WRITE ?? "0:before").split(":");
let count = 0;
const arrive = () => {
  const isIt = ++count === Number(nth);
  if (isIt && when === "before") process.kill(process.pid, "SIGKILL");
  return isIt;
};
const leave = (isIt) => {
  if (isIt && when === "after") process.kill(process.pid, "SIGKILL");
};
for (const name of ["fsyncSync", "fdatasyncSync", "renameSync", "ftruncateSync", "unlinkSync"]) {
  const original = fs[name];
  fs[name] = (...args) => {
    const isIt = arrive();
    try {
      return original(...args);
    } finally {
      leave(isIt);
    }
  };
}
// What is appended to the journal is forced to the disk without holding the program up.
for (const name of ["fsync", "fdatasync"]) {
  const original = fs[name];
  fs[name] = (file, done) => {
    const isIt = arrive();
    original(file, (error) => {
      leave(isIt);
      done(error);
    });
  };
}
if (process.env.COUNT_WRITES !== undefined)
  process.on("exit", () => fs.writeFileSync(process.env.COUNT_WRITES, String(count)));
