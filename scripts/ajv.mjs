// The compiler of the schemas of the files that users write.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { Ajv2020, _, stringify } = require("ajv/dist/2020.js");
const additionalProperties = require("ajv/dist/vocabularies/applicator/additionalProperties.js").default;
const limitProperties = require("ajv/dist/vocabularies/validation/limitProperties.js").default;

// An unknown key is reported together with the keys that are known, so that the nearest one can be suggested, and with
// the blocks in this map where other keys belong, for one of ours that is written too high.
additionalProperties.error.params = ({ params, parentSchema, it }) =>
  _`{additionalProperty: ${params.additionalProperty}, knownKeys: ${stringify(Object.keys(parentSchema.properties ?? {}))}, deeperKeys: ${stringify(deeperKeys(parentSchema, it.schemaEnv.root.schema))}}`;

/** How many blocks a key may have been written too high. */
const blocksTooHigh = 2;

/** The keys of the blocks in a map, each with those it stands in: `confirm` in `lifecycle.verify_resize`. */
function deeperKeys(map, root) {
  const places = {};
  let blocks = [{ place: "", map }];
  for (let depth = 0; depth <= blocksTooHigh; depth++) {
    const found = blocks.flatMap(({ place, map }) =>
      entriesOf(map, root).map(([key, inner]) => ({ place, key, inner })),
    );
    for (const { place, key } of found) if (key !== "KEY") places[key] = [...new Set([...(places[key] ?? []), place])];
    blocks = found.map(({ place, key, inner }) => ({ place: place === "" ? key : `${place}.${key}`, map: inner }));
  }
  return Object.fromEntries(Object.entries(places).filter(([, [place]]) => place !== ""));
}

/** What may stand in a map, in any of its forms; KEY: any key. */
function entriesOf(given, root) {
  const map = "$ref" in given ? root.$defs[given.$ref.slice("#/$defs/".length)] : given;
  const { properties = {}, additionalProperties: others, anyOf = [], oneOf = [] } = map;
  return [
    ...Object.entries(properties),
    ...(typeof others === "object" ? [["KEY", others]] : []),
    ...[...anyOf, ...oneOf].flatMap((form) => entriesOf(form, root)),
  ];
}

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
