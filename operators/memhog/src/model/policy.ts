// What an AppMonitor asks for, with every default filled in.
import type { Bytes } from "./bytes.ts";

export type Strategy = "Auto" | "InPlace" | "Redeploy" | "Recommend";
export type Metric = "WorkingSet" | "Usage";

export interface Policy {
  /** Of the AppMonitor. */
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  /** 75 means: act at usage ÷ limit ≥ 0.75. */
  readonly thresholdPercent: number;
  /** More than 1, at most 10; 1.5 is legal. */
  readonly multiplier: number;
  readonly strategy: Strategy;
  readonly metric: Metric;
  readonly maxMemory: Bytes | undefined;
  readonly cooldownMs: number;
  /** 0: no trend is believed. */
  readonly lookaheadMs: number;
  readonly maxRaisesPerHour: number;
  readonly paused: boolean;
}
