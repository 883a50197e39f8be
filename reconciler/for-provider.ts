/** What the Pulumi provider uses beside the public API: handlers by a name that a state holds, and their notes. */
export { nobody, unknownYet } from "./config/open-text";
export { type Connection, openConnection } from "./connect";
export { parseCidr } from "./core/canonical/cidr";
export { fieldsIn, ifAny, isObject, keysOf, listIn, onlyDefined, parsedJson, replacedIn } from "./core/text/objects";
export {
  type Former,
  fixInProgram,
  type Handler,
  type HandlerContext,
  holdsUnknown,
  isUnknown,
  type Property,
  type Props,
} from "./one/handler";
export { type Lookup, lookups } from "./one/lookups";
export { partsInCircles, partsNamedIn, resourceOfPart } from "./one/parts";
export { findForEngine, findHandler, handlers } from "./one/table";
export { mostOfGiven, readPlainFile } from "./outside/files";
export { type Neighbours, noteRemoved, type Removal, stackIn } from "./outside/program-notes";
export { sentenceOf } from "./refused";
export { originAt } from "./service/origin-at";
