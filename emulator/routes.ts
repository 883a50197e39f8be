/**
 * Finds the operation of a method and a path. The path is taken as it was sent: no dot segments resolved, no slashes
 * merged, so that nothing is reachable under two names. A literal segment wins over a parameter.
 */
import { type EmulatorOperation, operations } from "./operations";

interface RouteNode {
  readonly literals: Map<string, RouteNode>;
  parameter: { readonly name: string; readonly node: RouteNode } | undefined;
  readonly methods: Map<string, EmulatorOperation>;
}

export type RouteTree = RouteNode;

export type Match =
  | { readonly status: "found"; readonly operation: EmulatorOperation; readonly params: Record<string, string> }
  | { readonly status: "no path" }
  | { readonly status: "no method"; readonly allow: string };

const createNode = (): RouteNode => ({ literals: new Map(), parameter: undefined, methods: new Map() });

export function buildRoutes(chosen: readonly EmulatorOperation[]): RouteTree {
  const root = createNode();
  for (const name of chosen) {
    const { method, path } = operations[name];
    let node = root;
    for (const segment of path.split("/").slice(1)) {
      const parameter = /^\{(.*)\}$/.exec(segment)?.[1];
      if (parameter === undefined) {
        const next = node.literals.get(segment) ?? createNode();
        node.literals.set(segment, next);
        node = next;
      } else {
        node.parameter ??= { name: parameter, node: createNode() };
        node = node.parameter.node;
      }
    }
    node.methods.set(method, name);
  }
  return root;
}

export function matchRoute(routes: RouteTree, method: string, path: string): Match {
  let node: RouteNode | undefined = routes;
  const params: Record<string, string> = {};
  for (const segment of path.split("/").slice(1)) {
    const literal: RouteNode | undefined = node.literals.get(segment);
    if (literal !== undefined) node = literal;
    else if (node.parameter !== undefined && segment !== "") {
      params[node.parameter.name] = decodeSegment(segment);
      node = node.parameter.node;
    } else return { status: "no path" };
  }
  if (node.methods.size === 0 || !path.startsWith("/")) return { status: "no path" };
  const operation = node.methods.get(method);
  if (operation === undefined) return { status: "no method", allow: [...node.methods.keys()].join(", ") };
  return { status: "found", operation, params };
}

/** A segment that cannot be decoded is left as it is, and then is no id of anything. */
export function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
