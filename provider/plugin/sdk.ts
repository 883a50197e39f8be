/**
 * The SDK's own gRPC stubs, found from where the SDK is, so that there is one copy of them under every package manager.
 * Older releases lack some getters; their callers test for them.
 */
import { createRequire } from "node:module";

const fromSdk = createRequire(require.resolve("@pulumi/pulumi"));

export const grpc = fromSdk("@grpc/grpc-js") as typeof import("@grpc/grpc-js");
export const { Struct } = fromSdk(
  "google-protobuf/google/protobuf/struct_pb.js",
) as typeof import("google-protobuf/google/protobuf/struct_pb");
export const { Empty } = fromSdk(
  "google-protobuf/google/protobuf/empty_pb.js",
) as typeof import("google-protobuf/google/protobuf/empty_pb");
export const { Any } = fromSdk(
  "google-protobuf/google/protobuf/any_pb.js",
) as typeof import("google-protobuf/google/protobuf/any_pb");
export const messages = fromSdk(
  "@pulumi/pulumi/proto/provider_pb",
) as typeof import("@pulumi/pulumi/proto/provider_pb");
export const plugins = fromSdk("@pulumi/pulumi/proto/plugin_pb") as typeof import("@pulumi/pulumi/proto/plugin_pb");
export const statuses = fromSdk("@pulumi/pulumi/proto/status_pb") as typeof import("@pulumi/pulumi/proto/status_pb");
export const engines = fromSdk("@pulumi/pulumi/proto/engine_pb") as typeof import("@pulumi/pulumi/proto/engine_pb");
export const resources = fromSdk(
  "@pulumi/pulumi/proto/resource_pb",
) as typeof import("@pulumi/pulumi/proto/resource_pb");
export const alias = fromSdk("@pulumi/pulumi/proto/alias_pb") as typeof import("@pulumi/pulumi/proto/alias_pb");
export const { ResourceMonitorClient } = fromSdk(
  "@pulumi/pulumi/proto/resource_grpc_pb",
) as typeof import("@pulumi/pulumi/proto/resource_grpc_pb");
export const { ResourceProviderService } = fromSdk(
  "@pulumi/pulumi/proto/provider_grpc_pb",
) as typeof import("@pulumi/pulumi/proto/provider_grpc_pb");
export const { EngineClient } = fromSdk(
  "@pulumi/pulumi/proto/engine_grpc_pb",
) as typeof import("@pulumi/pulumi/proto/engine_grpc_pb");

export type PropertyStruct = InstanceType<typeof Struct>;
