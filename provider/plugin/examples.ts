/** One example a resource, in the languages that the package is mostly used from. */
type Value = string | number | boolean | readonly Value[] | { readonly [key: string]: Value } | Reference;

interface Reference {
  readonly idOf: string;
}

const idOf = (name: string): Reference => ({ idOf: name });

interface Example {
  readonly title: string;
  readonly name: string;
  readonly args: Readonly<Record<string, Value>>;
}

const examples: Readonly<Record<string, Example>> = {
  Vm: {
    title: "A virtual machine",
    name: "web",
    args: {
      ...{ flavorId: "m1.small", imageId: "ubuntu-24.04", owner: "ops@acme.example", userId: "1042" },
      ...{ project: "acme", region: "in-west-1", size: 10 },
    },
  },
  Volume: { title: "A volume", name: "data", args: { size: 20 } },
  VolumeAttachment: {
    title: "A volume that may be taken off again",
    name: "attached",
    args: { vmId: idOf("web"), volumeId: idOf("data"), flushConfirmed: true },
  },
  SecurityGroup: {
    title: "A group that admits HTTPS",
    name: "front",
    args: { rules: [{ protocol: "tcp", dstPort: "443", remoteIp: "0.0.0.0/0" }] },
  },
  SecurityGroupRule: {
    title: "A rule beside those of its group",
    name: "ssh",
    args: { securityGroupId: idOf("front"), protocol: "tcp", dstPort: "22", remoteIp: "10.0.0.0/8" },
  },
};

const isReference = (value: Value): value is Reference =>
  typeof value === "object" && "idOf" in value && typeof value.idOf === "string";

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function typescript(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(typescript).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  if (isReference(value)) return `${value.idOf}.id`;
  return `{ ${Object.entries(value)
    .map(([key, item]) => `${key}: ${typescript(item)}`)
    .join(", ")} }`;
}

function python(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(python).join(", ")}]`;
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  if (isReference(value)) return `${value.idOf}.id`;
  return `{${Object.entries(value)
    .map(([key, item]) => `"${snake(key)}": ${python(item)}`)
    .join(", ")}}`;
}

const yaml = (value: Value): string =>
  JSON.stringify(value, (_key, item: Value) =>
    typeof item === "object" && item !== null && isReference(item) ? `\${${item.idOf}.id}` : item,
  );

export function exampleOf(type: string): string {
  const example = examples[type];
  if (example === undefined) return "";
  const { title, name, args } = example;
  const each = (write: (key: string, value: Value) => string): string =>
    Object.entries(args)
      .map(([key, value]) => write(key, value))
      .join("\n");
  return `{{% examples %}}
## Example Usage
{{% example %}}
### ${title}

\`\`\`typescript
import { ${type} } from "reconcile-cloud/pulumi";

const ${name} = new ${type}("${name}", {
${each((key, value) => `    ${key}: ${typescript(value)},`)}
});
\`\`\`
\`\`\`python
import pulumi_reconcile_cloud as cloud

${name} = cloud.${type}("${name}",
${each((key, value) => `    ${snake(key)}=${python(value)},`)}
)
\`\`\`
\`\`\`yaml
resources:
  ${name}:
    type: reconcile-cloud:${type}
    properties:
${each((key, value) => `      ${key}: ${yaml(value)}`)}
\`\`\`
{{% /example %}}
{{% /examples %}}`;
}
