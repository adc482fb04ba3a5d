// Needs a browser, so it is not part of `npm test`.
import { systemEnvironment } from "@memhog/runtime";
import { beforeAll, describe, expect, it } from "vitest";
import { mib } from "../model/bytes.ts";
import { anAction, anApp, aPolicy, aRecord, now } from "../model/observed-app.fixture.ts";
import { aPlan, aVerdict } from "../model/plan.fixture.ts";
import { type Browser, chromium } from "./chromium.fixture.ts";
import { serveDashboard } from "./dashboard.ts";
import { dashboardState, History } from "./history.ts";

const metrics = { available: true, freshForMs: 60_000 };

/** Ten minutes of history with one raise per app. */
function historyOf(count: number): History {
  const history = new History();
  for (let app = 0; app < count; app += 1) {
    for (let at = 0; at < 40; at += 1) {
      const atMs = now + at * 15_000;
      const limit = mib(at < 20 ? 384 : 768);
      const inputs = { ...aVerdict().inputs, usage: mib(100 + at * 9), limit, thresholdBytes: mib((limit / 2 ** 20) * 0.75) };
      const actions = at < 20 ? [] : [anAction({ atMs: now + 20 * 15_000 })];
      history.note(
        anApp({ nowMs: atMs, app: { kind: "Deployment", namespace: "shop", name: `app-${app}` }, policies: [aPolicy()] }),
        aPlan({ verdicts: [aVerdict({ inputs })], record: aRecord({ actions }) }),
      );
    }
  }
  return history;
}

const serve = (history: History) =>
  serveDashboard({
    address: "127.0.0.1:0",
    clock: systemEnvironment().clock,
    state: (sinceMs) => dashboardState({ nowMs: now + 600_000, metrics, apps: history.apps(), monitors: [] }, sinceMs),
  });

describe("the dashboard in a browser (a real chromium)", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium();
  });

  it("shows the plot, limit, threshold and actions of every app", async () => {
    await using page = await serve(historyOf(3));
    const dom = await browser.dom(`http://127.0.0.1:${page.port}/`, { width: 1200, height: 900 });
    expect(dom.match(/<article/g)).toHaveLength(3);
    expect(dom).toContain("Deployment/app-2");
    for (const line of ["usage", "limit", "threshold", "action"])
      expect(dom.match(new RegExp(`class="${line}"`, "g"))).toHaveLength(3);
    expect(dom).toContain("ThresholdCrossed: memhog 384Mi → 768Mi (InPlace, Applied)");
    expect(dom).toContain("3 apps · 0 raises · Prometheus available");
  });

  it("M6: shows apps that keep being OOM-killed first, in red, with their kills", async () => {
    const history = historyOf(3);
    const app = { kind: "Deployment", namespace: "shop", name: "zz-dying" } as const;
    const summary = { ...aPlan().summary, phase: "Waiting", reason: "OutOfMemoryAtCap" } as const;
    const inputs = { ...aVerdict().inputs, usage: undefined };
    const plan = aPlan({ summary, verdicts: [aVerdict({ inputs })], record: aRecord({ oomKills: 7 }) });
    history.note(anApp({ nowMs: now, app }), plan);
    await using page = await serve(history);
    const dom = await browser.dom(`http://127.0.0.1:${page.port}/`, { width: 1200, height: 900 });
    expect(
      [...dom.matchAll(/<article class="([^"]*)" data-app="([^"]*)"/g)].map(([, classes, key]) => `${key}: ${classes}`),
    ).toEqual(["shop/Deployment/zz-dying: app failing", ...[0, 1, 2].map((each) => `shop/Deployment/app-${each}: app`)]);
    expect(dom).toContain("7 OOM kills");
    expect(dom).toContain("1 out of memory");
  });

  it("explains how to get started if no app is monitored", async () => {
    await using page = await serve(new History());
    const dom = await browser.dom(`http://127.0.0.1:${page.port}/`, { width: 1200, height: 900 });
    expect(dom).toMatch(/<p id="none">/);
  });

  it("renders 500 apps", async () => {
    await using page = await serve(historyOf(500));
    const dom = await browser.dom(`http://127.0.0.1:${page.port}/`, { width: 1200, height: 900 });
    expect(dom.match(/<article/g)).toHaveLength(500);
  });

  it("supports light and dark mode at the width of a phone", async () => {
    await using page = await serve(historyOf(2));
    const url = `http://127.0.0.1:${page.port}/`;
    const phone = { width: 420, height: 900 };
    const [light, dark] = [await browser.picture(url, phone), await browser.picture(url, { ...phone, dark: true })];
    expect(light.equals(dark)).toBe(false);
  });
});
