/**
 * What Pulumi's SDK loads at its start and hardly a program uses is loaded when something of it is used: two thirds of
 * what a program costs. Loaded before such a process by NODE_OPTIONS. Programs on the real engine run without it.
 */
const Module = require("node:module");

const rarelyUsed = new Set([
  "./automation",
  "@npmcli/arborist",
  "@opentelemetry/exporter-zipkin",
  "@opentelemetry/instrumentation",
  "@opentelemetry/instrumentation-grpc",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-base",
  "@opentelemetry/sdk-trace-node",
  "execa",
  "fdir",
  // Every resource that is made writes down a stack, and finds each line of it in the SDK's own sources.
  "source-map-support/register",
  "typescript",
]);

const load = Module._load;
Module._load = function (name, parent, ...rest) {
  const bySdk = rarelyUsed.has(name) && parent?.filename?.includes("@pulumi");
  return bySdk ? lazily(() => load.call(this, name, parent, ...rest)) : load.call(this, name, parent, ...rest);
};

function lazily(loadNow) {
  let loaded;
  const real = () => {
    loaded ??= loadNow();
    return loaded;
  };
  // As a module of ES is imported: the SDK's helpers for imports then copy nothing.
  const get = (_, key) =>
    key === "__esModule" ? true : key === "default" && !("default" in real()) ? real() : Reflect.get(real(), key);
  return new Proxy(() => undefined, {
    get,
    has: (_, key) => Reflect.has(real(), key),
    apply: (_, self, args) => Reflect.apply(real(), self, args),
  });
}
