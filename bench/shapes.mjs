// The shapes that are measured, each with n resources, as YAML for reconcile and (sections/terraform.mjs) as JSON for
// Terraform. `flat`: nothing knows anything else. `chained`: each group admits the one before it. `for_each`: VMs and
// their volumes from two blocks. `mutual`: groups in rings of ten that admit both of their neighbours.
const head = `version: 1
project: acme
region: in-west-1
defaults:
  vm: { owner: ops@acme.example, user_id: "1042", image_id: 00000000-0000-4000-8003-000000000001, flavor_id: m1.small, size: 10 }
`;

const each = (n, make) => Array.from({ length: n }, (_, index) => make(index)).join("");
const group = (name, rules) => `  ${name}:\n    rules:\n${rules.map((rule) => `      - { ${rule} }\n`).join("")}`;
const https = "protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0";
const from = (name) => `protocol: tcp, dst_port: 5432, remote_group: ${name}`;
const ring = 10;

export const shapes = {
  flat(n) {
    const third = Math.floor(n / 3);
    const vms = each(n - 2 * third, (i) => `  vm-${i}:\n    name: vm-${i}\n    size: ${10 + (i % 90)}\n`);
    const volumes = each(third, (i) => `  vol-${i}:\n    size: ${10 + (i % 90)}\n`);
    const groups = each(third, (i) => group(`sg-${i}`, [https, `protocol: tcp, dst_port: ${1024 + (i % 60000)}`]));
    return `${head}vms:\n${vms}volumes:\n${volumes}groups:\n${groups}`;
  },
  chained(n) {
    return `${head}groups:\n${each(n, (i) => group(`sg-${i}`, i === 0 ? [https] : [https, from(`sg-${i - 1}`)]))}`;
  },
  for_each(n) {
    const half = Math.floor(n / 2);
    return `${head}vms:
  web:
    for_each: ${n - half}
    name: web-\${each}
volumes:
  disk:
    for_each: ${half}
    name: disk-\${each}
    size: 20
    attach_to: web[\${each}]
`;
  },
  mutual(n) {
    const name = (i, step) => {
      const first = i - (i % ring);
      const size = Math.min(ring, n - first);
      return `sg-${first + ((i - first + step + size) % size)}`;
    };
    return `${head}groups:\n${each(n, (i) => group(`sg-${i}`, [https, from(name(i, 1)), from(name(i, -1)).replace("5432", "6432")]))}`;
  },
};

/** What bare-writer.mjs makes, as a file. */
export const fleet = (vms, groups, timing) => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: ${timing} } }
vms:
  web:
    for_each: ${vms}
    name: web-\${each}
    owner: ops@acme.example
    user_id: "1042"
    image_id: 00000000-0000-4000-8003-000000000001
    flavor_id: m1.small
    size: 10
volumes:
  disk:
    for_each: ${vms}
    name: disk-\${each}
    size: 20
    attach_to: web[\${each}]
groups:
${each(groups, (n) =>
  group(
    `sg-${n}`,
    Array.from({ length: 10 }, (_, port) => `protocol: tcp, dst_port: ${8000 + port}, remote_ip: 0.0.0.0/0`),
  ),
)}`;
