// Errors for malformed requests and invalid objects, and the defaults of built-in kinds.
import { describe, expect, it } from "vitest";
import { ConfigMap, container, Deployment, deployment, Job, Pod, pod, Service } from "./kinds.ts";
import { type Loose, refusal, world } from "./world.ts";

const here = world();
const home = () => `/api/v1/namespaces/${here.namespace}`;

describe("a request path", () => {
  it("with an unknown group returns NotFound", async () => {
    const refused = await refusal(here.ask("GET", "/apis/no.such/v1/things"));
    expect(refused.status).toBe(404);
  });

  it("with an unknown resource returns NotFound", async () => {
    const refused = await refusal(here.ask("GET", `${home()}/things`));
    expect(refused).toMatchObject({ status: 404, reason: "NotFound", said: "the server could not find the requested resource" });
  });

  it("with an unknown subresource returns NotFound", async () => {
    const refused = await refusal(here.ask("GET", `${home()}/pods/x/nothing`));
    expect(refused).toMatchObject({ status: 404, reason: "NotFound", said: "the server could not find the requested resource" });
  });

  it("rejects methods that it does not support", async () => {
    const refused = await refusal(here.ask("PUT", `${home()}/configmaps`, { body: {} }));
    expect(refused).toMatchObject({ status: 405, reason: "MethodNotAllowed" });
    expect(refused.said).toBe("the server does not allow this method on the requested resource");
  });

  it("of a single object rejects POST", async () => {
    const refused = await refusal(here.ask("POST", `${home()}/configmaps/x`, { body: {} }));
    expect(refused).toMatchObject({ status: 405, reason: "MethodNotAllowed" });
  });

  it("across all namespaces rejects a create", async () => {
    const refused = await refusal(here.ask("POST", "/api/v1/configmaps", { body: { metadata: { name: "x" } } }));
    expect(refused).toMatchObject({ status: 405, reason: "MethodNotAllowed" });
  });
});

describe("a request body", () => {
  it("is rejected if it is an array", async () => {
    expect((await refusal(here.ask("POST", `${home()}/configmaps`, { body: [] }))).status).toBe(400);
  });

  it("is rejected if it is missing", async () => {
    expect((await refusal(here.ask("POST", `${home()}/configmaps`, {}))).status).toBe(400);
  });

  it("is rejected if its media type is unknown", async () => {
    const headers = { "content-type": "text/plain" };
    const refused = await refusal(here.ask("POST", `${home()}/configmaps`, { headers, body: {} }));
    expect(refused).toMatchObject({ status: 415, reason: "UnsupportedMediaType" });
  });

  it("is rejected if it has a number in a string field", async () => {
    const refused = await refusal(here.make(ConfigMap, { data: { a: 1 } as never }));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
    expect(refused.said).toContain('ConfigMap in version "v1" cannot be handled as a ConfigMap');
  });
});

describe("a response", () => {
  it("is rejected if the requested media type is unknown", async () => {
    const refused = await refusal(here.ask("GET", `${home()}/configmaps`, { headers: { accept: "text/html" } }));
    expect(refused).toMatchObject({ status: 406, reason: "NotAcceptable" });
  });

  it("contains only metadata if the client requests PartialObjectMetadata", async () => {
    const made = await here.make(ConfigMap, { data: { a: "1" } });
    const headers = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };
    const partial = await here.ask("GET", `${home()}/configmaps/${made.metadata.name}`, { headers });
    expect(partial).toMatchObject({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: made.metadata });
    expect(partial).not.toHaveProperty("data");
  });

  it("contains only metadata of lists if the client requests PartialObjectMetadataList", async () => {
    const headers = { accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io" };
    const list = await here.ask("GET", `${home()}/configmaps`, { headers });
    expect(list).toMatchObject({ kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1" });
  });
});

describe("an invalid object", () => {
  const containers = (...list: readonly object[]) => pod({ spec: { containers: list } });
  it.each<{ what: string; make: () => Promise<unknown>; cause: object }>([
    {
      what: "a pod without containers",
      make: () => here.make(Pod, containers()),
      cause: { reason: "FieldValueRequired", field: "spec.containers" },
    },
    {
      what: "a container without a name",
      make: () => here.make(Pod, containers({ image: "x" })),
      cause: { reason: "FieldValueRequired", field: "spec.containers[0].name" },
    },
    {
      what: "a container without an image",
      make: () => here.make(Pod, containers({ name: "a" })),
      cause: { reason: "FieldValueRequired", field: "spec.containers[0].image" },
    },
    {
      what: "two containers with the same name",
      make: () => here.make(Pod, containers(container(), container())),
      cause: { reason: "FieldValueDuplicate", field: "spec.containers[1].name" },
    },
    {
      what: "a Service with two ports of the same name",
      make: () =>
        here.make(Service, {
          spec: {
            ports: [
              { name: "http", port: 80 },
              { name: "http", port: 81 },
            ],
          },
        }),
      cause: { reason: "FieldValueDuplicate", field: "spec.ports[1].name" },
    },
    {
      what: "a Service with the same port under two names",
      make: () =>
        here.make(Service, {
          spec: {
            ports: [
              { name: "a", port: 80 },
              { name: "b", port: 80 },
            ],
          },
        }),
      cause: { reason: "FieldValueDuplicate", field: "spec.ports[1]" },
    },
    {
      what: "a request above its limit",
      make: () =>
        here.make(Pod, containers(container({ resources: { requests: { memory: "2Gi" }, limits: { memory: "1Gi" } } }))),
      cause: { reason: "FieldValueInvalid", field: "spec.containers[0].resources.requests" },
    },
    {
      what: "a negative quantity",
      make: () => here.make(Pod, containers(container({ resources: { limits: { memory: "-1Gi" } } }))),
      cause: { reason: "FieldValueInvalid", field: "spec.containers[0].resources.limits[memory]" },
    },
    {
      what: "an unknown restart policy",
      make: () => here.make(Pod, pod({ spec: { restartPolicy: "Perhaps" } })),
      cause: { reason: "FieldValueNotSupported", field: "spec.restartPolicy" },
    },
    {
      what: "a Deployment whose selector does not match its pods",
      make: () => here.make(Deployment, deployment({ spec: { selector: { matchLabels: { app: "y" } } } })),
      cause: { reason: "FieldValueInvalid", field: "spec.template.metadata.labels" },
    },
    {
      what: "a Deployment without a selector",
      make: () => here.make(Deployment, deployment({ spec: { selector: undefined } })),
      cause: { reason: "FieldValueRequired", field: "spec.selector" },
    },
    {
      what: "a Deployment with negative replicas",
      make: () => here.make(Deployment, deployment({ spec: { replicas: -1 } })),
      cause: { reason: "FieldValueInvalid", field: "spec.replicas" },
    },
    {
      what: "a Job with restart policy Always",
      make: () => here.make(Job, { spec: { template: { spec: { containers: [container()], restartPolicy: "Always" } } } }),
      cause: { reason: "FieldValueRequired", field: "spec.template.spec.restartPolicy" },
    },
    {
      what: "a Service without ports",
      make: () => here.make(Service, { spec: {} }),
      cause: { reason: "FieldValueRequired", field: "spec.ports" },
    },
    {
      what: "a Service with a port above 65535",
      make: () => here.make(Service, { spec: { ports: [{ port: 70_000 }] } }),
      cause: { reason: "FieldValueInvalid", field: "spec.ports[0].port" },
    },
    {
      what: "a ConfigMap key with a slash",
      make: () => here.make(ConfigMap, { data: { "a/b": "" } }),
      cause: { reason: "FieldValueInvalid", field: "data[a/b]" },
    },
  ])("is rejected: $what", async ({ make, cause }) => {
    const refused = await refusal(make());
    expect(refused).toMatchObject({ status: 422, reason: "Invalid" });
    expect(refused.causes).toContainEqual(expect.objectContaining(cause));
  });

  it("is a BadRequest if a quantity cannot be parsed", async () => {
    const refused = await refusal(here.make(Pod, containers(container({ resources: { limits: { memory: "much" } } }))));
    expect(refused).toMatchObject({ status: 400, reason: "BadRequest" });
    expect(refused.said).toContain("quantities must match the regular expression");
  });
});

describe("defaults of built-in kinds", () => {
  it("complete a Pod", async () => {
    const made = await here.make(Pod, pod());
    expect(made.spec).toMatchObject({
      ...{ restartPolicy: "Always", terminationGracePeriodSeconds: 30, dnsPolicy: "ClusterFirst", serviceAccountName: "default" },
      ...{ enableServiceLinks: true, preemptionPolicy: "PreemptLowerPriority", priority: 0, securityContext: {} },
    });
    expect(made.spec.containers[0]).toMatchObject({
      ...{
        imagePullPolicy: "Always",
        terminationMessagePath: "/dev/termination-log",
        terminationMessagePolicy: "File",
        resources: {},
      },
    });
    expect(made.spec.tolerations).toMatchObject([
      { key: "node.kubernetes.io/not-ready", tolerationSeconds: 300 },
      { key: "node.kubernetes.io/unreachable", tolerationSeconds: 300 },
    ]);
  });

  it("copy missing requests from limits", async () => {
    const made = await here.make(Pod, pod({ spec: { containers: [container({ resources: { limits: { memory: "1Gi" } } })] } }));
    expect(made.spec.containers[0].resources.requests).toEqual({ memory: "1Gi" });
  });

  it("normalize quantities", async () => {
    const resources = { limits: { memory: "1024Mi", cpu: "0.5" } };
    const made: Loose = await here.make(Pod, pod({ spec: { containers: [container({ resources })] } }));
    expect(made.spec.containers[0].resources.limits).toEqual({ memory: "1Gi", cpu: "500m" });
  });

  it("complete a Deployment", async () => {
    const made = await here.make(Deployment, deployment({ spec: { replicas: undefined, paused: true } }));
    expect(made.spec).toMatchObject({
      ...{ replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } },
    });
  });

  it("complete a Service", async () => {
    const made = await here.make(Service, { spec: { ports: [{ port: 80 }], selector: { app: "x" } } });
    expect(made.spec).toMatchObject({
      ...{
        type: "ClusterIP",
        sessionAffinity: "None",
        clusterIP: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
        ipFamilies: ["IPv4"],
      },
      ports: [{ port: 80, targetPort: 80, protocol: "TCP" }],
    });
  });
});
