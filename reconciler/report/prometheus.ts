/** Metrics as Prometheus reads them. */
import { printable } from "../core/text/printable";

/** With its labels. */
export type MetricSample = readonly [labels: Readonly<Record<string, string>>, value: number];

export type Metric = readonly [name: string, type: "gauge" | "counter", help: string, samples: readonly MetricSample[]];

/** `prefix`: what all names begin with. */
export const prometheusText = (prefix: string, metrics: readonly Metric[]): string =>
  metrics.flatMap((metric) => metricLines(prefix, metric).map((line) => `${line}\n`)).join("");

const metricLines = (prefix: string, [name, type, help, samples]: Metric): string[] => [
  `# HELP ${prefix}${name} ${help}`,
  `# TYPE ${prefix}${name} ${type}`,
  ...samples.map(([labels, value]) => `${prefix}${name}${labelsText(labels)} ${value}`),
];

function labelsText(labels: MetricSample[0]): string {
  const all = Object.entries(labels).map(([name, value]) => `${name}="${labelValue(value)}"`);
  return all.length === 0 ? "" : `{${all.join(",")}}`;
}

const labelValue = (text: string): string => printable(text).replaceAll("\\", "\\\\").replaceAll('"', '\\"');
