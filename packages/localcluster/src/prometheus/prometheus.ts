// A real Prometheus in the sandbox, scraping the kubelet as a cluster's own would: over TLS, with a certificate that must be
// allowed to read `nodes/metrics`.
//
// cAdvisor measures a container every ten to fifteen seconds, whatever we ask; a shorter interval only sees a new measurement
// sooner.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { untilHttpAnswers } from "../node/inside.ts";
import { nodeAddress } from "../node/network.ts";
import { prometheusTools } from "../node/packages.ts";
import type { Sandbox } from "../node/sandbox.ts";
import { type Component, startComponent } from "../process/component.ts";
import type { Progress } from "../progress.ts";
import type { ClusterDirectory } from "../state/directory.ts";

export interface PrometheusOptions {
  readonly directory: ClusterDirectory;
  readonly sandbox: Sandbox;
  /** The name of the Node object: the `node` label of every series. */
  readonly nodeName: string;
  /** Paths. The certificate's user must be allowed `get nodes/metrics` (group system:masters is). */
  readonly credentials: { readonly ca: string; readonly certificate: string; readonly key: string };
  /** A Prometheus duration. @default "5s" */
  readonly scrapeInterval?: string | undefined;
  /** Where clients on the host find it. @default a free one */
  readonly hostPort?: number | undefined;
  readonly progress?: Progress | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Prometheus {
  /** For clients on the host: http://127.0.0.1:PORT */
  readonly url: string;
  readonly component: Component;
}

/** Prometheus' own; free, because the sandbox has a network of its own. Pods reach it there at the node's address. */
const port = 9090;

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { directory, sandbox, hostPort, signal } = options;
  const tools = await prometheusTools(options);
  const home = join(directory.data, "prometheus");
  await mkdir(home, { recursive: true });
  const config = join(home, "prometheus.yaml");
  await writeFile(config, stringify(prometheusConfig(options)));
  const component = await startComponent(
    {
      name: "prometheus",
      place: sandbox,
      argv: [
        tools.path("prometheus"),
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(home, "data")}`,
        `--web.listen-address=0.0.0.0:${port}`,
      ],
      env: tools.env,
      ready: (given) => untilHttpAnswers(options, `http://127.0.0.1:${port}/-/ready`, given),
      ...(signal && { signal }),
    },
    directory,
  );
  const forwarded = await sandbox.forward(port, hostPort === undefined ? {} : { hostPort });
  return { url: `http://127.0.0.1:${forwarded}`, component };
}

function prometheusConfig({
  scrapeInterval = "5s",
  ...options
}: Pick<PrometheusOptions, "credentials" | "nodeName" | "scrapeInterval">): object {
  const { ca, certificate, key } = options.credentials;
  const kubelet = {
    scheme: "https",
    tls_config: { ca_file: ca, cert_file: certificate, key_file: key },
    static_configs: [{ targets: [`${nodeAddress}:10250`], labels: { node: options.nodeName, instance: options.nodeName } }],
  };
  return {
    global: { scrape_interval: scrapeInterval, scrape_timeout: scrapeInterval, evaluation_interval: scrapeInterval },
    scrape_configs: [
      { job_name: "kubelet", ...kubelet },
      // A sample carries the time at which cAdvisor measured it, not that of the scrape: its age is real.
      { job_name: "cadvisor", metrics_path: "/metrics/cadvisor", honor_timestamps: true, ...kubelet },
    ],
  };
}
