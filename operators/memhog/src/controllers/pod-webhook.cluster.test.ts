// The webhook as an API server calls it. It must never be the reason why a pod is not created.
import { crdOf, Pod, Secret, seconds } from "@memhog/runtime";
import { MutatingWebhookConfiguration } from "@memhog/runtime/kinds";
import { freePort, startOperator } from "@memhog/runtime/testing";
import { webhookConfigurations } from "@memhog/runtime/webhook";
import { testCluster } from "@memhog/simulator/testing";
import { expect, it } from "vitest";
import { AppMemory } from "../api/app-memory.ts";
import { AppMonitor } from "../api/app-monitor.ts";
import { monitorAnnotation, operatorName } from "../api/names.ts";
import { memhogOptions } from "../memhog.ts";
import { PrometheusError } from "../observe/prometheus/transport.ts";
import { podWebhook } from "./pod-webhook.ts";

const unreachable = { query: () => Promise.reject(new PrometheusError("PROMETHEUS_UNREACHABLE", "no Prometheus")) };

async function stage() {
  const cluster = await testCluster();
  await cluster.apply(crdOf(AppMonitor), crdOf(AppMemory));
  const client = await cluster.client();
  const namespace = cluster.defaultNamespace;
  const name = `memhog-${namespace}`; // configurations belong to the whole cluster, which other tests use too
  const url = `https://127.0.0.1:${await freePort()}`;
  const here = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
  await cluster.apply(...webhookConfigurations([podWebhook(true, here).webhook], { name, url }));
  const start = () =>
    startOperator({
      ...memhogOptions({ prometheus: unreachable, podWebhook: true, podWebhookOptions: here, intervalMs: seconds(60) }),
      ...{ name, kubeconfig: cluster.kubeconfig, namespaces: "all", leaderElection: false },
      webhookServer: { host: "127.0.0.1", port: Number(new URL(url).port), address: { url } },
    });
  const pod = (podName: string, value = "true", dryRun = false) =>
    client.create(
      Pod,
      {
        metadata: { namespace, name: podName, annotations: { [monitorAnnotation]: value } },
        spec: {
          schedulerName: "nobody",
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: "main",
              image: "example.com/none",
              resources: { limits: { memory: "384Mi", cpu: "1" }, requests: { memory: "256Mi", cpu: "10m" } },
            },
          ],
        },
      },
      { dryRun },
    );
  const close = async () => {
    await client.delete(MutatingWebhookConfiguration, { name });
    await client.delete(Secret, { namespace: "default", name: `${name}-webhook-certificates` }).catch(() => {});
    await cluster[Symbol.asyncDispose]();
  };
  return { cluster, client, namespace, start, pod, [Symbol.asyncDispose]: close };
}

const limitOf = ({ spec }: Pod) => spec.containers[0]?.resources?.limits?.memory;

it("a new pod starts with what its app has learned; without the webhook it is created as it is", async () => {
  await using at = await stage();
  const { client, namespace } = at;
  await client.create(AppMonitor, {
    metadata: { namespace, name: "all" },
    spec: { memThresholdPercent: 75, memMultiplier: 2, maxMemory: "700Mi" },
  } as never);
  const ref = { namespace, name: "pod-web" };
  const { metadata } = await client.create(AppMemory, { metadata: ref, spec: { app: "Pod/web" } });
  const learned = [{ container: "main", limit: "768Mi", request: "512Mi", at: metadata.creationTimestamp }];
  await client.patch(AppMemory, ref, { type: "merge", body: { status: { learned } } }, { subresource: "status" });

  expect(limitOf(await at.pod("web", "true", true)), "the webhook is not served yet").toBe("384Mi");
  {
    await using _operator = await at.start();
    const grown = await at.cluster.eventually(
      () => at.pod("web", "true", true),
      (found) => limitOf(found) !== "384Mi",
    );
    expect(limitOf(grown), "within maxMemory").toBe("700Mi");
    expect(grown.spec.containers[0]?.resources?.limits?.cpu, "nothing but memory is changed").toBe("1");
    expect(limitOf(await at.pod("web", "false", true)), "not annotated to be monitored").toBe("384Mi");
    expect(limitOf(await at.pod("other", "true", true)), "of an app that has learned nothing").toBe("384Mi");
  }
  expect(limitOf(await at.pod("web")), "the webhook is down").toBe("384Mi");
});

it("is registered so that it fails open, for monitored pods that are created outside kube-system", () => {
  const [configuration] = webhookConfigurations([podWebhook(true).webhook], {
    name: operatorName,
    service: { namespace: "memhog-system", name: "memhog-operator-webhook" },
  });
  expect(configuration?.webhooks).toMatchObject([
    {
      failurePolicy: "Ignore",
      timeoutSeconds: 2,
      rules: [{ operations: ["CREATE"], resources: ["pods"] }],
      matchConditions: [{ name: "monitored" }],
      namespaceSelector: { matchExpressions: [{ operator: "NotIn", values: ["kube-system"] }] },
    },
  ]);
});
