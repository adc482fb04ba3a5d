// A Prometheus in the sandbox that scrapes the kubelet as one in a cluster does: over TLS, with a certificate that is allowed to read
// `nodes/metrics`.
//
// cAdvisor measures a container every ten to fifteen seconds. A shorter scrape interval only sees a new measurement sooner.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Component, startComponent } from "../process/component.ts";
import type { Progress } from "../progress.ts";
import { nodeAddress } from "./network.ts";
import { prometheusTools } from "./packages.ts";
import { type SandboxedCluster, waitForHttp } from "./sandbox.ts";

export interface PrometheusOptions extends SandboxedCluster {
  /** The name of the Node object: the `node` label of every series. */
  readonly nodeName: string;
  /** Paths. The user of the certificate needs the right to `get nodes/metrics`; the group system:masters has it. */
  readonly credentials: { readonly ca: string; readonly certificate: string; readonly key: string };
  /** A Prometheus duration. */
  readonly scrapeInterval: string;
  readonly progress?: Progress | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Prometheus {
  /** For clients on the host: http://127.0.0.1:PORT */
  readonly url: string;
  readonly component: Component;
}

/** The usual port, which is free in the network of the sandbox. Pods reach it at the node's address. */
const port = 9090;

export async function startPrometheus(options: PrometheusOptions): Promise<Prometheus> {
  const { directory, sandbox, signal } = options;
  const tools = await prometheusTools(options);
  const home = join(directory.data, "prometheus");
  await mkdir(home, { recursive: true });
  const config = join(home, "prometheus.yaml");
  await writeFile(config, stringify(prometheusConfig(options)));
  const component = await startComponent(
    {
      name: "prometheus",
      context: sandbox,
      argv: [
        tools.path("prometheus"),
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(home, "data")}`,
        `--web.listen-address=0.0.0.0:${port}`,
      ],
      env: tools.env,
      ready: (started) => waitForHttp(options, `http://127.0.0.1:${port}/-/ready`, started),
      signal,
    },
    directory,
  );
  const hostPort = await sandbox.forward(port);
  return { url: `http://127.0.0.1:${hostPort}`, component };
}

function prometheusConfig({ scrapeInterval, nodeName, credentials }: PrometheusOptions): object {
  const { ca, certificate, key } = credentials;
  const kubelet = {
    scheme: "https",
    tls_config: { ca_file: ca, cert_file: certificate, key_file: key },
    static_configs: [{ targets: [`${nodeAddress}:10250`], labels: { node: nodeName, instance: nodeName } }],
  };
  return {
    global: { scrape_interval: scrapeInterval, scrape_timeout: scrapeInterval, evaluation_interval: scrapeInterval },
    scrape_configs: [
      { job_name: "kubelet", ...kubelet },
      // A sample keeps the time at which cAdvisor measured it, not that of the scrape, so its age is real.
      { job_name: "cadvisor", metrics_path: "/metrics/cadvisor", honor_timestamps: true, ...kubelet },
    ],
  };
}
