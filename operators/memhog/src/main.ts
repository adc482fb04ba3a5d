// The program. (Its parts are being put together.)
import { crdOf } from "@memhog/runtime";
import { AppMemory } from "./api/app-memory.ts";
import { AppMonitor } from "./api/app-monitor.ts";

console.log(JSON.stringify([crdOf(AppMonitor), crdOf(AppMemory)], null, 2));
