/**
 * The file that `reconcile init` writes: valid as it is and in the usual form, small enough to read, with the next things to
 * try as comments.
 */
export const starterText = (schema: string): string => `# yaml-language-server: $schema=${schema}
# What should exist. \`reconcile plan\` shows what that would change, \`reconcile apply\` does it.
version: 1
project: my-project
region: in-west-1 # one the service lists; the embedded service has this one

service:
  base_url: embedded # the service inside this program, for trying; or the https:// URL of yours

vars:
  flavor: { default: m1.small, description: Size of the VMs } # reconcile plan --var flavor=m1.large

defaults:
  vm:
    flavor_id: \${var.flavor} # flavor name or id
    image_id: ubuntu-24.04 # image id or name
    owner: me@example.com # username or e-mail address
    user_id: "1" # your user id in the service
    size: 10 # GB, the data volume that is made with the VM

vms:
  web:
    for_each: [a, b] # vm.web[a] and vm.web[b]
    name: web-\${each}
    lifecycle: { prevent_destroy: false }

volumes:
  data:
    size: 20 # GB; it grows, off its VM for that moment, and never shrinks
    attach_to: web[a]

groups:
  web:
    name: web # a VM is put into its group in the service's console: there is no call for it
    description: Public web tier
    rules:
      - { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0, description: HTTPS }
      - { protocol: tcp, dst_port: 5432, remote_group: self }
`;
