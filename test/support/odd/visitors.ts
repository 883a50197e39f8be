/**
 * Services whose answers speak of pages in several ways, and of which some lists fit on one: totals beside a page's
 * number, and lists that take no page at all, or refuse to be asked for one.
 */
import { cut, type Raw, text } from "../deployments/front";
import { curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";

const kindIn = (operation: string) => operation.split(".")[0] as keyof Shown;

/** One endpoint with actions in the query; totals and pages by number, and two lists without pages, of which one refuses them. */
function totals(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      InstanceId: raw["id"],
      InstanceName: raw["name"],
      Status: word({ ACTIVE: "Running", SHUTOFF: "Stopped", VERIFY_RESIZE: "ToBeConfirmed" }, raw, "Pending"),
      InstanceType: raw["flavor_id"],
      ImageId: raw["image_id"],
      RegionId: raw["region"],
      CreationTime: "2026-03-01T10:00Z",
      Tags: { Tag: [{ TagKey: "owner", TagValue: raw["owner"] }] },
      VpcAttributes: { PrivateIpAddress: { IpAddress: [raw["private_ip"]] } },
      PublicIpAddress: { IpAddress: raw["floating_ip"] === null ? [] : [raw["floating_ip"]] },
    }),
    volume: (raw) => ({
      DiskId: raw["id"],
      DiskName: raw["name"],
      Size: raw["size"],
      Type: raw["root"] === true ? "system" : "data",
      Status: word({ available: "Available", "in-use": "In_use" }, raw, "Attaching"),
      InstanceId: raw["attached_to"] ?? "",
      RegionId: raw["region"],
    }),
    group: (raw) => ({
      SecurityGroupId: raw["id"],
      SecurityGroupName: raw["name"],
      Description: raw["description"],
      VpcId: "",
    }),
    flavor: (raw) => ({ InstanceTypeId: raw["id"], InstanceTypeName: raw["name"], MemorySize: 1 }),
    image: (raw) => ({ ImageId: raw["id"], ImageName: raw["name"], OSType: "linux" }),
    region: (raw) => ({ RegionId: raw["id"], LocalName: raw["name"] }),
  };
  const lists: Readonly<Record<string, readonly [kind: keyof Shown, several: string, one: string]>> = {
    DescribeInstances: ["vm", "Instances", "Instance"],
    DescribeDisks: ["volume", "Disks", "Disk"],
    DescribeSecurityGroups: ["group", "SecurityGroups", "SecurityGroup"],
    DescribeInstanceTypes: ["flavor", "InstanceTypes", "InstanceType"],
    DescribeImages: ["image", "Images", "Image"],
    DescribeRegions: ["region", "Regions", "Region"],
  };
  const acts: Readonly<Record<string, string>> = {
    ConfirmResize: "vm.resize.confirm",
    RevertResize: "vm.resize.revert",
    DeleteDisk: "volume.delete",
    RevokeRule: "group.rule.delete",
  };
  const made = odd({
    title: "totals and pages by number, lists without pages, and one that refuses them",
    shown,
    world: { slowVolumes: true, range: "-", twice: true },
    lists: {},
    routes: [],
    page: (items, { query }, operation) => {
      const [, several = "", one = ""] = Object.values(lists).find(([kind]) => kind === kindIn(operation)) ?? [];
      const listed = items.map(shown[kindIn(operation)]);
      if (/flavor|region/.test(operation)) return { body: { RequestId: "R-1", [several]: { [one]: listed } } };
      const [nth, size] = [Number(query.get("PageNumber") ?? 1), Number(query.get("PageSize") ?? 3)];
      return {
        body: {
          RequestId: "R-1",
          TotalCount: items.length,
          PageNumber: nth,
          PageSize: size,
          [several]: { [one]: cut(listed, (nth - 1) * size, size) },
        },
      };
    },
    answer: (operation, _, payload, raw) => ({
      body: {
        RequestId: "R-1",
        ...(/^volume\.create/.test(operation) && { DiskId: raw["id"] }),
        ...(/^group\.create/.test(operation) && { SecurityGroupId: raw["id"] }),
        ...(operation === "volume.get" && shown.volume(raw)),
        ...(operation === "group.rule.list" && { Permissions: { Permission: payload } }),
        ...(operation === "vm.delete" && { data: payload }),
        ...(operation === "group.rule.create" && { Permission: payload }),
      },
    }),
    refuse: (_, status, message) => ({
      status,
      body: {
        RequestId: "R-1",
        HostId: "ecs.acme.invalid",
        Code: status === 404 ? "InvalidResourceId.NotFound" : status === 401 ? "InvalidAccessKeyId" : "IncorrectStatus",
        Message: message,
      },
    }),
    told: [
      ...curl("vm.list", "'URL/api/v1/rpc?Action=DescribeInstances&Version=2014-05-26'"),
      ...curl("vm.resize.confirm", "-X POST 'URL/api/v1/rpc?Action=ConfirmResize&Version=2014-05-26&InstanceId=i-41'"),
      ...curl("vm.resize.revert", "-X POST 'URL/api/v1/rpc?Action=RevertResize&Version=2014-05-26&InstanceId=i-41'"),
      ...curl("volume.delete", "-X POST 'URL/api/v1/rpc?Action=DeleteDisk&Version=2014-05-26&DiskId=d-41'"),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      refuses(operation, _, { path, query }) {
        const isRefused = path === "/api/v1/rpc" && operation === "flavor.list" && query.has("PageNumber");
        return isRefused ? made.shape.refuse(operation, 400, "the parameter PageNumber is not supported") : undefined;
      },
      understand({ path, query }) {
        if (path !== "/api/v1/rpc" || query.get("Version") !== "2014-05-26") return undefined;
        const action = query.get("Action") ?? "";
        const [kind] = lists[action] ?? [];
        if (kind !== undefined) return { operation: `${kind}.list` };
        const operation = acts[action];
        const id = query.get("InstanceId") ?? query.get("DiskId") ?? query.get("SecurityGroupId") ?? "";
        return operation === undefined ? undefined : { operation, id, ruleId: text(query.get("SecurityGroupRuleId")) };
      },
    },
  };
}

/** Entities with metadata, spec and status; each list is a POST whose path and body both say of what. */
function entities(): Odd {
  const entity = (raw: Raw, kind: string, resources: Raw, spec: Raw = {}): Raw => ({
    status: { state: "COMPLETE", name: raw["name"], resources, cluster_reference: { kind: "cluster", uuid: "c-1" } },
    spec: { name: raw["name"], ...spec },
    metadata: { kind, uuid: raw["id"], spec_version: raw["version"] ?? 0, creation_time: "2026-03-01T10:00:00Z" },
    api_version: "3.1",
  });
  const ref = (kind: string, uuid: unknown): Raw => ({ kind, uuid });
  const shown: Shown = {
    vm: (raw) =>
      entity(raw, "vm", {
        power_state: word({ ACTIVE: "ON", SHUTOFF: "OFF", VERIFY_RESIZE: "SUSPENDED" }, raw, "TRANSITION"),
        vm_size_reference: ref("vm_size", raw["flavor_id"]),
        parent_reference: ref("image", raw["image_id"]),
        owner: { email: raw["owner"] },
        nic_list: [
          { ip_endpoint_list: [{ ip: raw["private_ip"], type: "ASSIGNED" }], floating_ip: raw["floating_ip"] },
        ],
        disk_list: disks(raw).map(({ id, root }) => ({
          volume_reference: ref("disk", id),
          device_properties: { device_type: "DISK", is_boot: root },
        })),
      }),
    volume: (raw) =>
      entity(raw, "disk", {
        disk_size_mib: Number(raw["size"]) * 1024,
        disk_state: word({ available: "DETACHED", "in-use": "ATTACHED" }, raw, "BUSY"),
        ...(raw["attached_to"] !== null && { vm_reference: ref("vm", raw["attached_to"]) }),
      }),
    group: (raw) => entity(raw, "security_group", {}, { description: raw["description"] }),
    flavor: (raw) => entity(raw, "vm_size", { memory_size_mib: 1024 }),
    image: (raw) => entity(raw, "image", { image_type: "DISK_IMAGE" }),
    region: (raw) => entity(raw, "availability_zone", {}),
  };
  const called: Readonly<Record<string, keyof Shown>> = {
    vm: "vm",
    disk: "volume",
    security_group: "group",
    vm_size: "flavor",
    image: "image",
    availability_zone: "region",
  };
  const at = "/api/acme/v3";
  const made = odd({
    title: "a kind in the path and in the body, entities with three parts",
    shown,
    world: { slowVolumes: true, range: "-", twice: true },
    lists: {},
    routes: [
      [`GET ${at}/vms/:id`, "vm.get"],
      [`GET ${at}/security_groups/:id`, "group.get"],
      [`POST ${at}/vms/:id/confirm_resize`, "vm.resize.confirm"],
      [`POST ${at}/vms/:id/revert_resize`, "vm.resize.revert"],
      [`DELETE ${at}/disks/:id`, "volume.delete"],
      [`DELETE ${at}/security_groups/:id/rules/:rule`, "group.rule.delete"],
    ],
    page: (items, { body }, operation) => {
      const [from, size] = [Number(body["offset"] ?? 0), Number(body["length"] ?? 2)];
      const listed = cut(items, from, size).map(shown[kindIn(operation)]);
      const total_matches = items.length;
      return {
        body: {
          api_version: "3.1",
          metadata: { total_matches, kind: body["kind"], length: listed.length, offset: from },
          entities: listed,
        },
      };
    },
    answer: (_, record, payload) => ({ body: record ?? { data: payload } }),
    refuse: (_, status, message) => ({
      status,
      body: {
        state: "ERROR",
        code: status,
        message_list: [{ message, reason: status === 404 ? "ENTITY_NOT_FOUND" : "INVALID_REQUEST" }],
        api_version: "3.1",
      },
    }),
    told: [
      ...curl("vm.list", `-X POST -d '{"kind":"vm"}' URL${at}/vms/list`),
      ...curl("vm.resize.confirm", `-X POST URL${at}/vms/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/confirm_resize`),
      ...curl("vm.resize.revert", `-X POST URL${at}/vms/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/revert_resize`),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand(asked, world) {
        const [, several = ""] = /^\/api\/acme\/v3\/(\w+)s\/list$/.exec(asked.path) ?? [];
        const kind = called[several];
        if (kind === undefined || asked.method !== "POST") return made.shape.understand(asked, world);
        return asked.body["kind"] === several ? { operation: `${kind}.list` } : undefined;
      },
    },
  };
}

export const visitors: readonly Odd[] = [totals(), entities()];
