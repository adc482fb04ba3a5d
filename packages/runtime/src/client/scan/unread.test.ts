import { describe, expect, it } from "vitest";
import { Reader, unread, unreadList, whole } from "./unread.ts";

class FilledBy<T extends object> extends Reader<T> {
  protected readonly fill: (object: T) => void;

  constructor(fill: (object: T) => void) {
    super();
    this.fill = fill;
  }

  open(): T {
    return unread(this as unknown as Reader<Record<string, unknown>>) as T;
  }
}

const filled = (fill: (object: Record<string, unknown>) => void) => unread(new FilledBy(fill));

/** A pod of which it is known what was read. */
function watched() {
  const read: string[] = [];
  const reader = (name: string, parts: object) =>
    new FilledBy<Record<string, unknown>>((object) => {
      read.push(name);
      Object.assign(object, parts);
    });
  const part = (name: string, parts: object) => unread(reader(name, parts));
  const fillEnv = (list: unknown[]) => {
    read.push("env");
    list.push(part("env 0", { name: "A" }), part("env 1", { name: "B" }));
  };
  const env = unreadList(new FilledBy(fillEnv));
  const resources = reader("resources", { limits: { memory: "1Gi" } });
  const container = part("container", { name: "web", resources, env });
  const pod = part("pod", { metadata: reader("metadata", { name: "p" }), spec: reader("spec", { containers: [container] }) });
  return { read, pod: pod as unknown as WatchedPod };
}

interface WatchedPod {
  metadata?: { name: string };
  spec: { containers: { name: string; resources: object; env: { name: string }[] }[]; extra?: string };
}

const plain: WatchedPod = {
  metadata: { name: "p" },
  spec: { containers: [{ name: "web", resources: { limits: { memory: "1Gi" } }, env: [{ name: "A" }, { name: "B" }] }] },
};

describe("an unread object", () => {
  it("is read as far as somebody looks, each part once", () => {
    const { pod, read } = watched();
    expect(read).toEqual([]);
    expect(pod.spec.containers.map(({ name }) => name)).toEqual(["web"]);
    expect(pod.spec.containers[0]?.name).toBe("web");
    expect(read).toEqual(["pod", "spec", "container"]);
  });

  it.each([
    { name: "a copy", look: (pod: WatchedPod) => ({ ...pod, spec: { ...pod.spec } }) },
    { name: "its keys", look: (pod: WatchedPod) => Object.fromEntries(Object.keys(pod).map((key) => [key, pod[key as "spec"]])) },
    { name: "its entries", look: (pod: WatchedPod) => Object.fromEntries(Object.entries(pod)) },
    { name: "what is in it", look: (pod: WatchedPod) => ("spec" in pod && Object.hasOwn(pod, "metadata") ? pod : {}) },
    { name: "JSON", look: (pod: WatchedPod) => JSON.parse(JSON.stringify(pod)) as object },
    { name: "a structured walk", look: (pod: WatchedPod) => Object.assign({}, pod) },
  ])("looks like any other in $name", ({ look }) => {
    expect(whole(look(watched().pod))).toEqual(plain);
  });

  it("may contain lists that are like any other", () => {
    const { pod, read } = watched();
    const env = pod.spec.containers[0]?.env ?? [];
    expect(read).toEqual(["pod", "spec", "container"]);
    expect([Array.isArray(env), env.length, env.map(({ name }) => name), [...env].at(-1)?.name]).toEqual([
      true,
      2,
      ["A", "B"],
      "B",
    ]);
    expect(read).toEqual(["pod", "spec", "container", "env", "env 0", "env 1"]);
  });

  it("that cannot be read is never taken for an empty one", () => {
    const late = filled(() => {
      throw new Error("too late");
    });
    for (let look = 0; look < 2; look += 1) expect(() => late.name).toThrow("too late");
  });

  it("may be changed, as any fresh object may", () => {
    const { pod } = watched();
    pod.spec.extra = "added";
    delete pod.metadata;
    expect(whole(pod)).toEqual({ spec: { ...plain.spec, extra: "added" } });
  });
});

describe("made whole, an object", () => {
  it("has nothing unread in it any more, also in what a projection built around it", () => {
    const { pod } = watched();
    const kept = whole({ name: pod.metadata?.name, containers: pod.spec.containers.map(({ resources }) => ({ resources })) });
    expect(kept).toEqual({ name: "p", containers: [{ resources: { limits: { memory: "1Gi" } } }] });
    expect(structuredClone(kept)).toEqual(kept); // an unread one cannot be cloned
    expect(() => structuredClone(watched().pod)).toThrow(/could not be cloned/);
  });

  it.each([
    { name: "that was frozen", freeze: (pod: WatchedPod) => Object.freeze({ metadata: pod.metadata, spec: pod.spec }) },
    { name: "frozen while it was unread", freeze: (pod: WatchedPod) => Object.freeze(pod) },
    {
      name: "frozen as deep as it goes",
      freeze: ({ metadata, spec }: WatchedPod) =>
        Object.freeze({ metadata: Object.freeze(metadata), spec: Object.freeze({ containers: Object.freeze(spec.containers) }) }),
    },
  ])("$name is made anew, and frozen", ({ freeze }) => {
    const kept = whole(freeze(watched().pod));
    expect(structuredClone(kept)).toEqual(plain);
    expect(Object.isFrozen(kept)).toBe(true);
  });

  it("keeps what nobody may change as it is", () => {
    const constant = Object.freeze({ a: Object.freeze({ b: 1 }) });
    expect(whole({ constant }).constant).toBe(constant);
  });
});
