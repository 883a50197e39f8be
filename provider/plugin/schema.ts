/** The package schema, which YAML, Python, Go and `pulumi package` read. scripts/provider/schema.mjs makes it. */
import { version } from "../../reconciler/index";
import { schema } from "../generated/schema";

export const packageSchema = (): Readonly<Record<string, unknown>> => ({ ...schema, version });
