import { describe, expect, it } from "vitest";
import { manualEnvironment } from "../../concurrency/manual-clock.ts";
import { systemEnvironment } from "../../concurrency/system-environment.ts";
import { ConfigMap } from "../../objects/kinds/core/config.ts";
import { eventually } from "../../testing/eventually.ts";
import { loopback } from "../../testing/loopback.ts";
import type { ScanOptions } from "../client.ts";
import { clientFor } from "../connect.ts";
import * as errors from "../errors.ts";

const items = ["a", "b", "c"].map((name) => ({ metadata: { namespace: "x", name } }));
const list = JSON.stringify({ kind: "ConfigMapList", apiVersion: "v1", metadata: { resourceVersion: "7" }, items });

type Answer = Parameters<typeof loopback>[0];

/** The names that a scan of this server gives, and how it ends. */
async function scanning(answer: Answer, options: ScanOptions = {}, environment = systemEnvironment()) {
  await using server = await loopback(answer);
  const client = clientFor(server.config, { environment });
  const names: string[] = [];
  try {
    const end = await client.scan?.(ConfigMap, ({ kind, metadata }) => names.push(`${kind} ${metadata.name}`), options);
    return { names, end };
  } catch (end) {
    return { names, end };
  } finally {
    await client.close();
  }
}

describe("a scan", () => {
  it("hands over every object, typed as in a watch, and the version they are of", async () => {
    const { names, end } = await scanning((_request, response) => response.end(list));
    expect(names).toEqual(["ConfigMap a", "ConfigMap b", "ConfigMap c"]);
    expect(end).toEqual({ resourceVersion: "7" });
  });

  it("asks for what it was told to ask for, and for protobuf only if known fields will do", async () => {
    const asked: unknown[] = [];
    const answer: Answer = (request, response) => {
      asked.push([request.url, request.headers.accept]);
      response.end(list);
    };
    await scanning(answer, { namespace: "x", labelSelector: "a=b" });
    await scanning(answer, { knownFieldsOnly: true });
    expect(asked).toEqual([
      ["/api/v1/namespaces/x/configmaps?labelSelector=a%3Db", "application/json"],
      ["/api/v1/configmaps", "application/vnd.kubernetes.protobuf, application/json"],
    ]);
  });

  it.each([
    { name: "a refusal", answer: (r) => r.writeHead(403).end("{}"), error: errors.ForbiddenError },
    { name: "the end of its history", answer: (r) => r.writeHead(410).end(), error: errors.ExpiredError },
    { name: "a page for people", answer: (r) => r.end("<html>log in</html>"), error: errors.AnswerError },
    { name: "nothing", answer: (r) => r.end(), error: errors.AnswerError },
    { name: "half a list", answer: (r) => r.end(list.slice(0, -40)), error: errors.BrokenStreamError },
    {
      name: "a connection that is cut",
      answer: (r) => r.write(list.slice(0, 90), () => r.destroy()),
      error: errors.TransportError,
    },
  ] satisfies { name: string; answer: (response: Parameters<Answer>[1]) => unknown; error: unknown }[])(
    "says so when $name comes instead",
    async ({ answer, error }) => {
      expect((await scanning((_request, response) => void answer(response))).end).toBeInstanceOf(error);
    },
  );

  it("is asked for once, and says when a busy server wants to be asked again", async () => {
    let asked = 0;
    const { end } = await scanning((_request, response) => {
      asked += 1;
      response.writeHead(429, { "retry-after": "7" }).end();
    });
    expect(end).toBeInstanceOf(errors.TooManyRequestsError);
    expect(end).toMatchObject({ retryAfterSeconds: 7 });
    expect(asked).toBe(1); // whoever keeps a cache has a back-off of its own
  });

  it("is given up when nothing comes for too long", async () => {
    const environment = manualEnvironment();
    let began = false;
    const project = <T>(object: T): T => {
      began = true; // not before: until there is an answer, its deadline is another one
      return object;
    };
    const answer: Answer = (_request, response) => response.write(list.slice(0, -40));
    const scan = scanning(answer, { idleMs: 1_000, project }, environment);
    await eventually(() => began, Boolean);
    let ended: unknown;
    void scan.then(({ end }) => (ended = end));
    while (ended === undefined) await environment.clock.advance(1_000);
    expect(ended).toBeInstanceOf(errors.IdleWatchError);
  });

  it("is given up when it does not begin in time", async () => {
    const environment = manualEnvironment();
    const scan = scanning(() => {}, { idleMs: 600_000, timeoutMs: 7_000 }, environment);
    let ended: unknown;
    void scan.then(({ end }) => (ended = end));
    while (ended === undefined) await environment.clock.advance(1_000);
    expect(ended).toBeInstanceOf(errors.TimeoutError);
    expect(String(ended)).toContain(" 7000 ms");
  });

  it("ends with the reason of its signal", async () => {
    const controller = new AbortController();
    const answer: Answer = (_request, response) => response.write(list.slice(0, 90), () => controller.abort("enough"));
    expect((await scanning(answer, { signal: controller.signal })).end).toBe("enough");
  });
});
