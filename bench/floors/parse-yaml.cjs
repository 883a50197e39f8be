// The floor of a plan from memory: Node, the parser, one file.
require("yaml").parse(require("node:fs").readFileSync(process.argv[2], "utf8"));
