// The compiler of the schemas of the files that users write.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { Ajv2020, _, stringify } = require("ajv/dist/2020.js");
const additionalProperties = require("ajv/dist/vocabularies/applicator/additionalProperties.js").default;
const limitProperties = require("ajv/dist/vocabularies/validation/limitProperties.js").default;

// An unknown key is reported together with the keys that are known, so that the nearest one can be suggested.
additionalProperties.error.params = ({ params, parentSchema }) =>
  _`{additionalProperty: ${params.additionalProperty}, knownKeys: ${stringify(Object.keys(parentSchema.properties ?? {}))}}`;

// So is a map that has too few of them.
limitProperties.error.params = ({ schemaCode, keyword, parentSchema }) =>
  keyword === "minProperties"
    ? _`{limit: ${schemaCode}, knownKeys: ${stringify(Object.keys(parentSchema.properties ?? {}))}}`
    : _`{limit: ${schemaCode}}`;

/** Descriptions are for people and editors; the generated code would carry each of them along. */
export const withoutDescriptions = (key, value) =>
  key === "description" && typeof value === "string" ? undefined : value;

export const createAjv = () =>
  new Ajv2020({
    code: { source: true, esm: false, optimize: true },
    allErrors: true,
    discriminator: true,
    verbose: false,
    // A definition is compiled once and called, not copied to each place that refers to it.
    inlineRefs: false,
    unicode: false,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    // Strictness throws; what is left to log is that `unicode: false` is a deprecated spelling.
    logger: false,
  });
