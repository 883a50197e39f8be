/** A plan and resources as pictures: nothing overlaps, nothing is cut off, nothing of others gets out of its quotes. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { graphDot, graphMermaid, planGraph, resourceGraph } from "../../reconciler/report/graph/graph";
import { layOut } from "../../reconciler/report/graph/layout";
import { graphSvg } from "../../reconciler/report/graph/svg";
import {
  everythingWorld,
  group,
  hostilePlan,
  planFor,
  quickstartWorld,
  rule,
  vm,
  volume,
} from "../support/sample-plans";

const golden = (name: string): string => join(__dirname, "golden/report", name);

describe("graphs as text", () => {
  it("reads as the golden Mermaid and dot", async () => {
    const graph = planGraph(planFor(everythingWorld()));
    await expect(graphMermaid(graph)).toMatchFileSnapshot(golden("everything.mmd"));
    await expect(graphDot(graph)).toMatchFileSnapshot(golden("everything.dot"));
    await expect(graphSvg(graph)).toMatchFileSnapshot(golden("everything.svg"));
    await expect(graphMermaid(resourceGraph(quickstartWorld().desired!))).toMatchFileSnapshot(golden("resources.mmd"));
  });

  it("draws the step that only a failure starts as conditional, and no arrow from it to what goes on", () => {
    const { edges } = planGraph(planFor(everythingWorld()));
    expect(edges.filter((edge) => edge.to === "vm.db/revert")).toEqual([
      { from: "vm.db/check", to: "vm.db/revert", conditional: true },
    ]);
    expect(edges.filter((edge) => edge.from === "vm.db/revert")).toEqual([]);
    expect(edges).toContainEqual({ from: "vm.db/check", to: "vm.db/confirm" });
  });

  it("leads arrows the way the traffic goes, from the Internet and from addresses too", () => {
    const { nodes, edges } = resourceGraph(quickstartWorld().desired!);
    expect(nodes.find(({ id }) => id === "outside:internet")?.head).toBe("Internet");
    expect(edges).toContainEqual({ from: "outside:internet", to: "group.web", label: "tcp 443" });
    expect(edges.find(({ from, to }) => from === "group.web" && to === "group.db")?.label).toBe("tcp 5432");
  });

  it("draws a VM and a group that are not declared here as two, though both have one id", () => {
    const rules = [{ ...rule(22), remote: { kind: "group" as const, group: { id: "106" } } }];
    const { nodes, edges } = resourceGraph([volume("data", { attachTo: { id: "106" } }), group("web", { rules })]);
    expect(nodes.filter(({ head }) => head === "106").map(({ id }) => id)).toEqual(["id:vm:106", "id:group:106"]);
    expect(edges.map(({ from, to }) => [from, to])).toEqual([
      ["volume.data", "id:vm:106"],
      ["id:group:106", "group.web"],
    ]);
  });

  it("draws a block of more than a dozen instances as one node, with what hangs on it counted", () => {
    const many = Array.from({ length: 40 }, (_, index) => [
      vm(`w[${index}]`),
      volume(`d[${index}]`, { attachTo: { address: `vm.w[${index}]` } }),
    ]).flat();
    const { nodes, edges } = resourceGraph(many);
    expect(nodes.map(({ head, lines }) => [head, lines[0]])).toEqual([
      ["vm.w[…]", "40 instances: 0, 1, 2 … 39"],
      ["volume.d[…]", "40 instances: 0, 1, 2 … 39"],
    ]);
    expect(edges).toEqual([{ from: "volume.d", to: "vm.w", label: "40 × attached to" }]);
  });

  it("keeps text of others inside its quotes", () => {
    const graph = planGraph(hostilePlan(planFor(everythingWorld())));
    for (const line of graphMermaid(graph).trimEnd().split("\n"))
      expect(line).toMatch(
        /^(flowchart LR| {2}n\d+\["[^"]*"\]:::\w+| {2}n\d+ -\.?->(\|"[^"]*"\|)? n\d+| {2}classDef [\w ]+[^"]*)$/,
      );
    for (const line of graphDot(graph).trimEnd().split("\n"))
      expect(line.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')).toMatch(/^(digraph "" \{|\}| {2}[\w =,[\]"\->.;#]*)$/);
    const svg = graphSvg(graph);
    expect(svg).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]|<b>/);
    expect(svg.match(/<g /g)).toHaveLength(svg.match(/<\/g>/g)!.length);
  });
});

describe("the layout", () => {
  const wide = Array.from({ length: 1_000 }, (_, index) => [
    vm(`w${index}`),
    volume(`d${index}`, { attachTo: { address: `vm.w${index % 50}` } }),
  ]).flat();

  it.each([
    ["a plan of everything", planGraph(planFor(everythingWorld()))],
    ["2,000 resources", resourceGraph(wide)],
  ])("puts no node on another, and every node on the sheet: %s", (_, graph) => {
    const nodes = graph.nodes.map((node, index) => ({
      id: node.id,
      width: 100 + (index % 7) * 20,
      height: 40 + (index % 3) * 10,
    }));
    const layout = layOut(nodes, graph.edges);
    const boxes = nodes.map((node) => ({ ...node, ...layout.places.get(node.id)! })).sort((a, b) => a.x - b.x);
    for (const [index, box] of boxes.entries()) {
      expect(Math.min(box.x, box.y)).toBeGreaterThanOrEqual(-0.001);
      expect(box.x + box.width).toBeLessThanOrEqual(layout.width + 0.001);
      expect(box.y + box.height).toBeLessThanOrEqual(layout.height + 0.001);
      for (let next = index + 1; next < boxes.length && boxes[next]!.x < box.x + box.width; next++) {
        const other = boxes[next]!;
        const apart = other.y >= box.y + box.height || box.y >= other.y + other.height;
        if (!apart) expect.fail(`${box.id} and ${other.id} overlap`);
      }
    }
  });

  it("leads every edge from left to right but for those that close a cycle", () => {
    const nodes = ["a", "b", "c", "d"].map((id) => ({ id, width: 10, height: 10 }));
    const edges = [
      ["a", "b"],
      ["b", "c"],
      ["c", "a"],
      ["a", "d"],
      ["c", "d"],
      ["d", "d"],
    ].map(([from, to]) => ({ from: from!, to: to! }));
    const { places } = layOut(nodes, edges);
    const x = (id: string) => places.get(id)!.x;
    expect([x("a") < x("b"), x("b") < x("c"), x("c") < x("d")]).toEqual([true, true, true]);
  });

  it("writes no label over another or over a box, as long as there is room on the edge", () => {
    const node = (id: string) => ({ id, head: `group.${id}`, lines: ["group, 2 rules"], tone: "group" as const });
    const svg = graphSvg({
      title: "t",
      description: "d",
      nodes: ["back", "front", "outside", "other"].map(node),
      edges: [
        { from: "back", to: "back", label: "tcp 7946" },
        { from: "back", to: "front", label: "tcp 8080" },
        { from: "front", to: "back", label: "tcp 9100" },
        { from: "outside", to: "front", label: "2 × tcp 443" },
        { from: "other", to: "front", label: "tcp 22" },
      ],
    });
    const number = (text: string, name: string): number => Number(new RegExp(` ${name}="([^"]+)"`).exec(text)?.[1]);
    const boxes = [...svg.matchAll(/<rect class="box"[^>]*>/g)].map(([rect]) => ({
      x: number(rect, "x"),
      y: number(rect, "y"),
      width: number(rect, "width"),
      height: number(rect, "height"),
      what: rect,
    }));
    const labels = [...svg.matchAll(/<text class="label"[^>]*>([^<]*)/g)].map(([text, words = ""]) => {
      const width = words.length * 6.6;
      return { x: number(text, "x") - width / 2, y: number(text, "y") - 10, width, height: 12, what: words };
    });
    expect([boxes.length, labels.length]).toEqual([4, 5]);
    const meet = labels.flatMap((label, index) =>
      [...boxes, ...labels.slice(index + 1)]
        .filter(
          (other) =>
            label.x < other.x + other.width &&
            other.x < label.x + label.width &&
            label.y < other.y + other.height &&
            other.y < label.y + label.height,
        )
        .map((other) => [label.what, other.what]),
    );
    expect(meet).toEqual([]);
  });

  it("takes a graph without nodes", () => {
    expect(graphSvg(resourceGraph([]))).toMatch(/<svg [^>]*width="\d+" height="\d+"/);
  });
});
