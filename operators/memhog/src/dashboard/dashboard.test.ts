import { once } from "node:events";
import { get, type RequestOptions, request } from "node:http";
import { Pod, systemEnvironment } from "@memhog/runtime";
import { describe, expect, it } from "vitest";
import { home, minutes, world } from "../../test/invariants/world.fixture.ts";
import { mib } from "../model/bytes.ts";
import { anAction, anApp, aRecord, now } from "../model/observed-app.fixture.ts";
import { aPlan, aVerdict } from "../model/plan.fixture.ts";
import { appRef } from "../observe/app-of.ts";
import { type DashboardServerOptions, serveDashboard } from "./dashboard.ts";
import { type DashboardState, dashboardState, History } from "./history.ts";

const metrics = { available: true, freshForMs: 60_000 };

describe("history of the dashboard", () => {
  it("has one point per evaluation, of the container that uses the largest share of its limit", () => {
    const history = new History();
    const hot = aVerdict({ container: "hot", inputs: { ...aVerdict().inputs, usage: mib(200) } });
    history.note(anApp(), aPlan({ verdicts: [aVerdict(), hot] }));
    history.note(anApp({ nowMs: now + 5_000 }), aPlan({ verdicts: [] }));
    expect(history.apps().map(({ points }) => points)).toEqual([
      [
        [now, mib(200), mib(384), mib(288)],
        [now + 5_000, null, null, null],
      ],
    ]);
  });

  it("is bounded", () => {
    const history = new History();
    for (let at = 0; at < 5_000; at += 1) history.note(anApp({ nowMs: now + at }), aPlan());
    expect(history.apps()[0]?.points.length).toBe(480);
    for (let app = 0; app < 2_000; app += 1) {
      const named = anApp({ app: { kind: "Deployment", namespace: "demo", name: `app-${app}` } });
      for (let at = 0; at < 200; at += 1) history.note({ ...named, nowMs: now + at }, aPlan());
    }
    const points = history.apps().reduce((sum, app) => sum + app.points.length, 0);
    expect(points).toBeLessThan(500_000);
  });

  it("drops an app that is gone", () => {
    const history = new History();
    history.note(anApp(), aPlan());
    history.forget(appRef(anApp().app));
    expect(history.apps()).toEqual([]);
  });
});

it("the dashboard of a running operator drops a deleted app", async () => {
  await using w = await world();
  await w.monitor();
  await w.pod("stays");
  await w.pod("goes");
  const page = Promise.withResolvers<number>();
  w.start({ onDashboard: page.resolve });
  await w.pass(minutes(1));
  const apps = async () => {
    const [answer] = await once(get({ host: "127.0.0.1", port: await page.promise, path: "/api/state" }), "response");
    const state = JSON.parse((await answer.toArray()).join("")) as DashboardState;
    return state.apps.map(({ name }) => name).sort();
  };
  expect(await apps()).toEqual(["Pod/goes", "Pod/stays"]);
  await w.client.delete(Pod, { namespace: home, name: "goes" });
  await w.pass(minutes(5));
  expect(await apps()).toEqual(["Pod/stays"]);
});

it("/api/state contains only new points and describes every action", () => {
  const history = new History();
  history.note(anApp({ nowMs: now }), aPlan({ record: aRecord({ actions: [anAction()] }) }));
  history.note(anApp({ nowMs: now + 5_000 }), aPlan({ record: aRecord({ actions: [anAction()] }) }));
  const { apps } = dashboardState({ nowMs: now + 6_000, metrics, apps: history.apps(), monitors: [] }, now);
  expect(apps[0]?.points.map(([at]) => at)).toEqual([now + 5_000]);
  expect(apps[0]?.actions[0]?.text).toBe("ThresholdCrossed: memhog 384Mi → 768Mi (InPlace, Applied)");
});

it("M6: /api/state tells which apps keep being OOM-killed and how many pods have no samples", () => {
  const history = new History();
  const summary = { ...aPlan().summary, reason: "OutOfMemoryAtCap" } as const;
  history.note(anApp(), aPlan({ summary, record: aRecord({ oomKills: 7 }) }));
  history.note(anApp({ app: { kind: "Pod", namespace: "demo", name: "well" } }), aPlan());
  const state = dashboardState({ nowMs: now, metrics, unseenPods: 2, apps: history.apps(), monitors: [] }, 0);
  expect(state.apps.map(({ failing, oomKills }) => [failing, oomKills])).toEqual([
    [true, 7],
    [false, 0],
  ]);
  expect(state.unseenPods).toBe(2);
});

describe("dashboard server", () => {
  const { clock } = systemEnvironment();
  const state = () => dashboardState({ nowMs: now, metrics, apps: [], monitors: [] }, 0);
  const serve = (options: Partial<DashboardServerOptions> = {}) =>
    serveDashboard({ address: "127.0.0.1:0", state, clock, ...options });
  const ask = (port: number, path: string, options: RequestOptions = {}) =>
    new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; body: string }>((done, fail) => {
      const sent = request({ port, path, host: "127.0.0.1", agent: false, ...options }, async (answer) => {
        const body = (await answer.toArray()).join("");
        done({ status: answer.statusCode, headers: answer.headers, body });
      });
      sent.on("error", fail).end();
    });

  it("serves three files and one endpoint and references no other origin", async () => {
    await using page = await serve();
    for (const path of ["/", "/dashboard.css", "/dashboard.js"]) {
      const { status, body, headers } = await ask(page.port, path);
      expect(status).toBe(200);
      expect(headers["content-security-policy"]).toContain("default-src 'self'");
      expect(body.replaceAll(/http:\/\/www\.w3\.org\/\S+/g, "")).not.toMatch(/https?:\/\//);
    }
    expect(JSON.parse((await ask(page.port, "/api/state?since=0")).body).apps).toEqual([]);
    expect((await ask(page.port, "/../package.json")).status).toBe(404);
  });

  it("streams the JSON of many apps in pieces", async () => {
    const history = new History();
    for (let app = 0; app < 60; app += 1)
      history.note(anApp({ app: { kind: "Deployment", namespace: "demo", name: `app-${app}` } }), aPlan());
    const whole = dashboardState({ nowMs: now, metrics, apps: history.apps(), monitors: [] }, 0);
    await using page = await serve({ state: () => whole });
    expect(JSON.parse((await ask(page.port, "/api/state")).body)).toEqual(JSON.parse(JSON.stringify(whole)));
  });

  it("rejects methods that write", async () => {
    await using page = await serve();
    const { status, headers } = await ask(page.port, "/api/state", { method: "POST" });
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: "GET, HEAD" });
  });

  it("responds with 400 to a malformed request target and keeps serving", async () => {
    await using page = await serve();
    expect((await ask(page.port, "//")).status).toBe(400);
    expect((await ask(page.port, "/")).status).toBe(200);
  });

  it("responds with 500 if the state cannot be read, and reports the error once", async () => {
    const errors: unknown[] = [];
    const broken = () => {
      throw new Error("a secret");
    };
    await using page = await serve({ state: broken, onError: (error, path) => errors.push([path, error]) });
    const { status, body } = await ask(page.port, "/api/state");
    expect(status).toBe(500);
    expect(body).not.toContain("secret");
    expect(errors).toMatchObject([["/api/state", { message: "a secret" }]]);
  });

  it.each([
    { host: "127.0.0.1:8082", status: 200 },
    { host: "localhost:8082", status: 200 },
    { host: "10.1.2.3:8082", status: 200 }, // an IP address cannot be rebound
    { host: "[fd00::1]:8082", status: 200 },
    { host: "memhog.example.com", status: 200 }, // allowed by the flag
    { host: "rebound.example.org:8082", status: 403 },
    { host: "127.0.0.1.example.org", status: 403 },
  ])("responds with $status to the Host header $host (DNS rebinding)", async ({ host, status }) => {
    await using page = await serve({ allowedHosts: ["memhog.example.com"] });
    for (const path of ["/", "/api/state"]) expect((await ask(page.port, path, { headers: { host } })).status).toBe(status);
  });

  it("accepts the host name that it listens on", async () => {
    await using page = await serve({ address: "localhost:0" });
    const asked = { host: "localhost", headers: { host: "localhost" } };
    expect((await ask(page.port, "/", asked)).status).toBe(200);
  });
});
