/** The package schema, which YAML, Python, Go and `pulumi package` read. scripts/provider/schema.mjs makes it. */
import { version } from "../../reconciler/index";

type SchemaModule = typeof import("../generated/schema");

export function packageSchema(): Readonly<Record<string, unknown>> {
  // It is large, and no run asks for it.
  const { schema }: SchemaModule = require("../generated/schema");
  return { ...schema, version };
}
