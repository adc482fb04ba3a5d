// node egress-proxy.fixture.ts '{"nodes": …}': starts a cluster, has its API server call whatever it can be made to call, and
// prints what came of it. To be run in a network namespace whose default route leads to the device out0 (egress-proxy.real.test.ts).
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { startCluster } from "../index.ts";
import { silent } from "../progress.ts";
import { createAuthority } from "./pki.ts";

/** An address outside of every range of the cluster. */
const outside = "10.77.0.7";
const options = JSON.parse(process.argv[2] ?? "{}");
const results: Record<string, string> = {};

{
  await using cluster = await startCluster({ ...options, progress: silent });
  const namespace = await cluster.namespace();
  const service = (name: string, spec: object) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { ports: [{ name: "https", port: 443 }], ...spec },
  });
  await cluster.apply(
    service("empty", {}),
    service("elsewhere", {}),
    service("named", { type: "ExternalName", externalName: "hook.example.com" }),
    // Kubernetes 1.32 resolves a Service by its Endpoints, newer versions by its EndpointSlices.
    {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name: "elsewhere", namespace },
      subsets: [{ addresses: [{ ip: outside }], ports: [{ name: "https", port: 443, protocol: "TCP" }] }],
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "elsewhere", namespace, labels: { "kubernetes.io/service-name": "elsewhere" } },
      addressType: "IPv4",
      endpoints: [{ addresses: [outside], conditions: { ready: true } }],
      ports: [{ name: "https", port: 443, protocol: "TCP" }],
    },
  );

  // Webhooks, by Service and by URL.
  const authority = await createAuthority("test");
  const webhooks: Record<string, object> = {
    "webhook of a Service without endpoints": { service: { namespace, name: "empty" } },
    "webhook of a Service with an endpoint elsewhere": { service: { namespace, name: "elsewhere" } },
    "webhook of an ExternalName Service": { service: { namespace, name: "named" } },
    "webhook of a Service that does not exist": { service: { namespace, name: "missing" } },
    "webhook by the name of a Service": { url: `https://empty.${namespace}.svc/` },
    "webhook by a name": { url: "https://hook.example.com/" },
    "webhook by an address": { url: `https://${outside}/` },
  };
  for (const [name, clientConfig] of Object.entries(webhooks)) results[name] = await callWebhook(clientConfig);

  // A webhook of the test itself, on loopback, is called.
  const pair = await authority.issue({ commonName: "hook", hosts: ["127.0.0.1", "10.32.0.1"] });
  const server = createServer({ cert: pair.certificate, key: pair.key }, async (request, response) => {
    const { request: asked } = JSON.parse((await request.toArray()).join(""));
    const status = { message: "called, and said no" };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: { uid: asked.uid, allowed: false, status },
      }),
    );
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { address, port } = await cluster.expose((server.address() as AddressInfo).port);
  results["webhook on this machine"] = await callWebhook({ url: `https://${address}:${port}/` });
  server.close();

  // What the API server proxies: nodes, pods, Services.
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "far-away" } };
  await cluster.apply(node);
  await cluster.request("PATCH", "/api/v1/nodes/far-away/status", {
    status: {
      addresses: [{ type: "InternalIP", address: outside }],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    },
  });
  const pod = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "far-away", namespace },
    spec: { nodeName: "far-away", containers: [{ name: "main", image: "none" }] },
  };
  await cluster.apply(pod);
  const pods = `/api/v1/namespaces/${namespace}/pods/far-away`;
  await cluster.request("PATCH", `${pods}/status`, { status: { podIP: outside, podIPs: [{ ip: outside }] } });
  results["logs of a pod on a node elsewhere"] = await messageOf(cluster.request("GET", `${pods}/log`));
  results["proxy to a pod"] = await messageOf(cluster.request("GET", `${pods}:8080/proxy/`));
  results["proxy to a node"] = await messageOf(cluster.request("GET", "/api/v1/nodes/far-away/proxy/healthz"));
  results["proxy to a Service"] = await messageOf(
    cluster.request("GET", `/api/v1/namespaces/${namespace}/services/https:elsewhere:https/proxy/`),
  );

  // An aggregated API server, and the conversion of a custom resource.
  const apiService = {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: "v1.far.example.com" },
    spec: {
      ...{ group: "far.example.com", version: "v1", groupPriorityMinimum: 10, versionPriority: 10 },
      ...{ insecureSkipTLSVerify: true, service: { namespace, name: "elsewhere" } },
    },
  };
  await cluster.apply(apiService);
  const registered = await cluster.eventually(
    () => cluster.get(apiService),
    (found) => found?.status?.conditions?.some((each: { reason: string }) => each.reason === "FailedDiscoveryCheck"),
  );
  results["aggregated API server"] = registered?.status.conditions[0].message;
  await cluster.delete(apiService);

  const group = "things.example.com";
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const versions = ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v1", schema }));
  const webhook = { conversionReviewVersions: ["v1"], clientConfig: { service: { namespace, name: "elsewhere" } } };
  await cluster.apply({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `things.${group}` },
    spec: {
      ...{ group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions },
      conversion: { strategy: "Webhook", webhook },
    },
  });
  const thing = (version: string) => ({ apiVersion: `${group}/${version}`, kind: "Thing", metadata: { name: "one", namespace } });
  results["conversion webhook"] = await messageOf(
    cluster.request("POST", `/apis/${group}/v2/namespaces/${namespace}/things`, thing("v2")),
  );

  /** What the API server says of an object that this webhook has to admit. */
  async function callWebhook(clientConfig: object): Promise<string> {
    const configuration = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "hook" },
      webhooks: [
        {
          ...{ name: "hook.example.com", admissionReviewVersions: ["v1"], sideEffects: "None", timeoutSeconds: 5 },
          clientConfig: { ...clientConfig, caBundle: Buffer.from(authority.certificate).toString("base64") },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
          namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        },
      ],
    };
    const attempt = () =>
      messageOf(
        cluster.request("POST", `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`, {
          metadata: { generateName: "probe-" },
        }),
      );
    await cluster.apply(configuration);
    const message = await cluster.eventually(attempt, (said) => said !== "accepted");
    await cluster.delete(configuration);
    await cluster.eventually(attempt, (said) => said === "accepted");
    return message;
  }
}

const sent = packetsSent();
// A packet that does leave is counted; else the figure above would mean nothing.
const socket = createSocket("udp4");
socket.send("hello", 9, "192.0.2.9");
while (packetsSent() === sent) await new Promise((done) => setTimeout(done, 10));
socket.close();
console.log(JSON.stringify({ results, sent }));

/** "accepted", or what the API server says. */
function messageOf(answer: Promise<unknown>): Promise<string> {
  return answer.then(
    () => "accepted",
    (error: Error) => error.message,
  );
}

function packetsSent(): number {
  const row = /^\s*out0:\s*(.*)$/m.exec(readFileSync("/proc/self/net/dev", "utf8"))?.[1] ?? "";
  return Number(row.trim().split(/\s+/)[9]);
}
