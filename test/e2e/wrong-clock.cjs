// Preloaded with --require: this process has a clock that is wrong, and that somebody sets while it runs.
// WRONG_CLOCK: by how many milliseconds it is wrong, and then `after:by` for each time it is set: "-600000", "0,1000:3600000".
// WRONG_CLOCK_FROM: the file whose coming `after` counts from.
const { existsSync } = require("node:fs");
const real = Date;
const [wrong, ...sets] = (process.env.WRONG_CLOCK ?? "0").split(",");
let by = Number(wrong);
const looking = setInterval(() => {
  if (!existsSync(process.env.WRONG_CLOCK_FROM ?? "")) return;
  clearInterval(looking);
  for (const set of sets) {
    const [after, step] = set.split(":").map(Number);
    setTimeout(() => {
      by += step;
    }, after).unref();
  }
}, 10).unref();
const now = () => real.now() + by;
globalThis.Date = class extends real {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }
  static now() {
    return now();
  }
};
