/**
 * A plan's steps, or resources with their references, as a picture: one graph of plain values, and its text for Mermaid
 * and for Graphviz. svg.ts draws the same graph without another program.
 */

import { describeRule } from "../../core/canonical/rules";
import { type Address, blockOf, componentPath, type Kind, kindOf } from "../../core/model/address";
import { computedIn } from "../../core/model/computed";
import type { DesiredResource, Reference } from "../../core/model/desired";
import { hostNamedBy } from "../../core/model/facts";
import { identity, identityKey } from "../../core/model/identity";
import { kindRows, kinds, ofKind } from "../../core/model/kinds";
import { hostOf } from "../../core/model/relations";
import { groupNamed, type Rule } from "../../core/model/rule";
import { isFallback } from "../../core/plan/estimate";
import type { Plan } from "../../core/plan/plan";
import { isGate, type Step } from "../../core/plan/step";
import { mustGet } from "../../core/text/invariant";
import { groupedBy, keysOf, tableOf } from "../../core/text/objects";
import { printable } from "../../core/text/printable";
import { describedIn } from "../kind-words";
import { summaryText } from "../plan-outline";
import { countOf, durationText } from "../style";

/** The tone of a node, which a sign in the node repeats, so that the picture needs no colours. */
export type Tone = "create" | "change" | "danger" | "wait" | "plain" | "outside" | Kind;

export interface GraphNode {
  readonly id: string;
  /** The name of the resource, in bold. */
  readonly head: string;
  readonly lines: readonly string[];
  readonly tone: Tone;
  /** The components around the node, from the outermost. Absent: none. */
  readonly within?: readonly string[];
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
  /** The step runs only when the first one fails. */
  readonly conditional?: boolean;
}

export interface Graph {
  readonly title: string;
  readonly description: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

interface ToneRow {
  readonly sign?: string;
  /** A colour for light and dark; the SVG has a shade of its own for dark. */
  readonly colour: string;
  readonly onDark: string;
}

export const tones: Readonly<Record<Tone, ToneRow>> = {
  create: { sign: "+", colour: "#1a7f37", onDark: "#3fb950" },
  change: { sign: "~", colour: "#9a6700", onDark: "#d29922" },
  danger: { sign: "!", colour: "#cf222e", onDark: "#f85149" },
  wait: { sign: "…", colour: "#6e7781", onDark: "#8b949e" },
  plain: { colour: "#6e7781", onDark: "#8b949e" },
  outside: { colour: "#bf3989", onDark: "#db61a2" },
  ...tableOf(keysOf(kindRows), (kind) => kindRows[kind].tone),
};

export function planGraph(plan: Plan): Graph {
  const nodes = plan.steps.map(
    (step): GraphNode => ({
      id: step.id,
      head: isGate(step) ? "" : printable(step.address),
      lines: [printable(step.title), ...(step.estimateMs >= 1000 ? [`about ${durationText(step.estimateMs)}`] : [])],
      tone: toneOf(step),
      ...(isGate(step) ? {} : inComponents(step.address)),
    }),
  );
  const edges = essentialNeeds(plan.steps).map(({ step, needs }) =>
    needs.map(
      (need): GraphEdge => ({ from: need.step, to: step.id, conditional: need.on === "failed" ? true : undefined }),
    ),
  );
  return {
    title: "Plan",
    description: `${summaryText(plan)} An arrow leads from a step to what waits for it.`,
    nodes,
    edges: edges.flat(),
  };
}

const inComponents = (address: Address): Pick<GraphNode, "within"> =>
  address.includes("/") ? { within: componentPath(address) } : {};

/** Deletes that take something with them for good. */
const losing: ReadonlySet<string> = new Set(
  kinds.filter((kind) => kindRows[kind].whenDeleted.length > 0).map((kind) => `${kind}.delete`),
);

function toneOf(step: Step): Tone {
  const { operation } = step.action;
  if (operation === "outside" || isFallback(step)) return "wait";
  if (operation === "record") return "plain";
  if (operation === "vm.rebuild" || losing.has(operation)) return "danger";
  return operation.endsWith(".create") ? "create" : "change";
}

const manyNeeds = 50;

/** Leaves out arrows that a chain of two others implies, and those that only hold a conditional step back. */
function essentialNeeds(steps: readonly Step[]): { step: Step; needs: Step["needs"] }[] {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const conditional = new Set(steps.filter(isFallback).map((step) => step.id));
  return steps.map((step) => {
    const implied = new Set<string>();
    const direct = new Map<string, Step["needs"][number]>();
    for (const need of step.needs) {
      if (!byId.has(need.step) || (need.on === "end" && conditional.has(need.step))) continue;
      if (!direct.has(need.step) || need.on === "failed") direct.set(need.step, need);
    }
    for (const id of direct.keys()) {
      const before = mustGet(byId, id);
      if (before.needs.length <= manyNeeds) for (const need of before.needs) implied.add(need.step);
    }
    return { step, needs: [...direct.values()].filter((need) => need.on === "failed" || !implied.has(need.step)) };
  });
}

/** A block with more instances than this is drawn as one node. */
const mostInstances = 12;

/**
 * Resources and what connects them: volumes on VMs, and between groups, addresses and the Internet the traffic that
 * rules admit. Each arrow points in the direction of the traffic.
 */
export function resourceGraph(resources: readonly DesiredResource[]): Graph {
  const nodes = new Map<string, GraphNode>();
  const nodeOf = new Map<string, string>();
  for (const [block, instances] of groupedBy(resources, ({ address }) => blockOf(address))) {
    const folded = instances.length > mostInstances;
    if (folded) nodes.set(block, foldedNode(block, instances));
    for (const resource of instances) {
      nodeOf.set(resource.address, folded ? block : resource.address);
      if (!folded)
        nodes.set(resource.address, {
          id: resource.address,
          head: printable(resource.address),
          lines: [printable(describedIn(resource))],
          tone: resource.kind,
          ...inComponents(resource.address),
        });
    }
  }
  const nodeWith = (node: GraphNode): string => {
    if (!nodes.has(node.id)) nodes.set(node.id, node);
    return node.id;
  };
  const refer = (reference: Reference, kind: Kind): string => {
    const address = "address" in reference ? reference.address : `id:${identityKey(identity(kind, reference.id))}`;
    const head = printable("address" in reference ? reference.address : reference.id);
    return nodeWith({ id: nodeOf.get(address) ?? address, head, lines: ["not declared here"], tone: "wait" });
  };
  const outside = (cidr: string | undefined): string =>
    cidr === undefined
      ? nodeWith({ id: "outside:internet", head: "Internet", lines: ["every address"], tone: "outside" })
      : nodeWith({ id: `outside:${cidr}`, head: cidr, lines: [], tone: "outside" });
  /** The nodes that the rule names. */
  const peersOf = ({ remote }: Rule): readonly string[] => {
    if (remote.kind === "computed")
      return computedIn(remote.text).map(({ address }) => refer({ address }, kindOf(address)));
    const named = groupNamed({ remote });
    if (named !== undefined) return [refer(named, "group")];
    return [outside(remote.kind === "cidr" ? remote.cidr : undefined)];
  };
  const links = new Map<string, { readonly from: string; readonly to: string; readonly words: Map<string, number> }>();
  const link = (from: string, to: string, words: string): void => {
    const key = `${from}\n${to}`;
    const known = links.get(key) ?? { from, to, words: new Map<string, number>() };
    known.words.set(words, (known.words.get(words) ?? 0) + 1);
    links.set(key, known);
  };
  for (const resource of resources) {
    const here = nodeOf.get(resource.address) ?? resource.address;
    const host = hostNamedBy(resource);
    const hostKind = hostOf[resource.kind]?.kind;
    if (host !== undefined && hostKind !== undefined) link(here, refer(host, hostKind), "attached to");
    for (const rule of ofKind(resource, "group")?.rules ?? []) {
      const traffic = ruleTraffic(rule);
      for (const other of peersOf(rule))
        if (rule.direction === "ingress") link(other, here, traffic);
        else link(here, other, `egress ${traffic}`);
    }
  }
  return {
    title: "Resources",
    description: `${countOf(resources.length, "resource")}. An arrow leads from a volume to its VM, and from where traffic comes from to the group that admits it (egress: from the group that lets it out).`,
    nodes: [...nodes.values()],
    edges: [...links.values()].map(({ from, to, words }) => ({ from, to, label: printable(edgeLabel(words)) })),
  };
}

/** A rule as text without its direction and its remote, which the arrow shows. */
const ruleTraffic = (rule: Rule): string => {
  const [, ...words] = describeRule(rule).split(" ");
  const remote = words.findLastIndex((word) => word === "from" || word === "to");
  return words.slice(0, remote === -1 ? words.length : remote).join(" ");
};

function foldedNode(block: string, instances: readonly DesiredResource[]): GraphNode {
  const keys = instances.map(({ address }) => address.slice(block.length + 1, -1));
  const [first] = instances;
  const like = first === undefined ? "" : `each like ${describedIn(first)}`;
  return {
    id: block,
    head: `${printable(block)}[…]`,
    lines: [
      `${instances.length} instances: ${printable(keys.slice(0, 3).join(", "))} … ${printable(keys.at(-1) ?? "")}`,
      printable(like),
    ],
    tone: first?.kind ?? "plain",
    ...inComponents(block),
  };
}

const mostLabels = 3;

/** The label of an arrow that stands for several rules: equal texts are counted, and so are many different ones. */
function edgeLabel(words: ReadonlyMap<string, number>): string {
  if (words.size > mostLabels)
    return countOf(
      [...words.values()].reduce((sum, count) => sum + count, 0),
      "rule",
    );
  return [...words].map(([text, count]) => (count === 1 ? text : `${count} × ${text}`)).join(", ");
}

const nodeText = ({ head, lines, tone }: GraphNode, lineBreak: string, quote: (text: string) => string): string =>
  [[tones[tone].sign ?? "", head].filter((part) => part !== "").join(" "), ...lines]
    .filter((line) => line !== "")
    .map(quote)
    .join(lineBreak);

/** Mermaid has entities of its own, written with a number sign in the place of the ampersand. */
const mermaidText = (text: string): string =>
  text.replace(/[^A-Za-z0-9 ,.()/_\-\u0080-\uffff]/gu, (character) => `#${character.codePointAt(0)};`);

export function graphMermaid(graph: Graph): string {
  const names = nameNodes(graph);
  const lines = ["flowchart LR"];
  lines.push(
    ...boxed(graph, {
      node: (node) => `${names.get(node.id)}["${nodeText(node, "<br/>", mermaidText)}"]:::${node.tone}`,
      open: (box, index) => `subgraph c${index}["${mermaidText(box)}"]`,
      close: "end",
    }),
  );
  for (const { from, to, label, conditional } of graph.edges) {
    const words = label ?? (conditional === true ? "if it fails" : undefined);
    const arrow = conditional === true ? "-.->" : "-->";
    lines.push(
      `  ${names.get(from)} ${arrow}${words === undefined ? "" : `|"${mermaidText(words)}"|`} ${names.get(to)}`,
    );
  }
  const used = new Set(graph.nodes.map((node) => node.tone));
  for (const tone of keysOf(tones))
    if (used.has(tone))
      lines.push(
        `  classDef ${tone} stroke:${tones[tone].colour},stroke-width:2px${tone === "wait" ? ",stroke-dasharray:4 3" : ""}`,
      );
  return `${lines.join("\n")}\n`;
}

const dotText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"');

export function graphDot(graph: Graph): string {
  const names = nameNodes(graph);
  const lines = [
    `digraph "${dotText(graph.title)}" {`,
    "  rankdir=LR;",
    '  node [shape=box, style=rounded, fontname="sans-serif", fontsize=11];',
    '  edge [fontname="sans-serif", fontsize=9, color="#6e7781"];',
  ];
  lines.push(
    ...boxed(graph, {
      node: (node) =>
        `${names.get(node.id)} [label="${nodeText(node, "\\n", dotText)}", color="${tones[node.tone].colour}"${node.tone === "wait" ? ', style="rounded,dashed"' : ""}];`,
      open: (box, index) =>
        `subgraph cluster_${index} { label="${dotText(box)}"; labeljust=l; style=rounded; color="#8c959f"; fontname="sans-serif"; fontsize=11;`,
      close: "}",
    }),
  );
  for (const { from, to, label, conditional } of graph.edges) {
    const words = label ?? (conditional === true ? "if it fails" : undefined);
    const attributes = [
      ...(words === undefined ? [] : [`label="${dotText(words)}"`]),
      ...(conditional === true ? ["style=dashed"] : []),
    ];
    lines.push(
      `  ${names.get(from)} -> ${names.get(to)}${attributes.length === 0 ? "" : ` [${attributes.join(", ")}]`};`,
    );
  }
  lines.push("}");
  return `${lines.join("\n")}\n`;
}

/** The nodes that are in a component at this depth, by the component. */
export const byComponent = <N extends Pick<GraphNode, "within">>(
  nodes: readonly N[],
  depth: number,
): ReadonlyMap<string, readonly N[]> => groupedBy(nodes, ({ within }) => within?.[depth]);

interface Boxing {
  readonly node: (node: GraphNode) => string;
  readonly open: (component: string, index: number) => string;
  readonly close: string;
}

/**
 * One indented line for each node, with each component as a box around its nodes. Nodes outside of components come
 * first.
 */
function boxed({ nodes }: Graph, { node, open, close }: Boxing): string[] {
  let boxes = 0;
  const inside = (all: readonly GraphNode[], depth: number): string[] => {
    const indent = "  ".repeat(depth + 1);
    const own = all.filter(({ within = [] }) => within.length === depth);
    return [
      ...own.map((one) => `${indent}${node(one)}`),
      ...[...byComponent(all, depth)].flatMap(([component, its]) => [
        `${indent}${open(printable(component), boxes++)}`,
        ...inside(its, depth + 1),
        `${indent}${close}`,
      ]),
    ];
  };
  return inside(nodes, 0);
}

/** Short generated names for the nodes, so that no text of a service gets into the graph's syntax. */
const nameNodes = (graph: Graph): Map<string, string> =>
  new Map(graph.nodes.map((node, index) => [node.id, `n${index}`]));
