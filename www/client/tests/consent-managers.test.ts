/** Tests of adapters for consent managers, with managers that are missing, undecided or broken. */

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  followConsentMode,
  followCookieConsent,
  followKlaro,
  followTarteaucitron,
  followTcf,
} from "../consent.js";

let told: string[];
const client = {
  grant: () => void told.push("grant"),
  revoke: async () => void told.push("revoke"),
};

beforeEach(() => {
  told = [];
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it("grants nothing without a manager", () => {
  vi.stubGlobal("dataLayer", undefined);
  vi.stubGlobal("addEventListener", () => {});
  followTcf(client);
  followConsentMode(client);
  followCookieConsent(client);
  followTarteaucitron(client);
  followKlaro(client, "statistics");
  expect(told).toEqual([]);
});

it("takes a framework's decision for all purposes, and for nothing less", () => {
  let tell = (_: object, _success: boolean) => {};
  vi.stubGlobal("__tcfapi", (_: string, _version: number, listener: typeof tell) => {
    tell = listener;
  });
  followTcf(client, [1, 9]);
  const both = { 1: true, 9: true };
  tell({ eventStatus: "cmpuishown", purpose: { consents: both } }, true);
  tell({ eventStatus: "tcloaded", purpose: { consents: both } }, false);
  tell({ eventStatus: "tcloaded", gdprApplies: false }, true);
  expect(told).toEqual(["revoke"]);
  tell({ eventStatus: "useractioncomplete", purpose: { consents: { 1: true, 9: 1 } } }, true);
  tell({ eventStatus: "useractioncomplete", purpose: { consents: both } }, true);
  tell({ eventStatus: "useractioncomplete", purpose: { consents: both } }, true);
  // A manager that fails later is trusted no longer.
  tell({ eventStatus: "useractioncomplete", purpose: { consents: both } }, false);
  expect(told).toEqual(["revoke", "grant", "revoke"]);
});

it("takes only updates of Consent Mode, also of the past, and passes all commands on", () => {
  const layer: unknown[] = [
    ["consent", "default", { analytics_storage: "granted" }],
    ["consent", "update", { ad_storage: "granted" }],
    ["event", "update", { analytics_storage: "granted" }],
    undefined,
  ];
  vi.stubGlobal("dataLayer", layer);
  followConsentMode(client);
  expect(told).toEqual([]);
  const command = ["consent", "update", { analytics_storage: "granted" }];
  expect(layer.push(command, "more")).toBe(6);
  layer.push(["consent", "update", { analytics_storage: "unknown" }]);
  expect(told).toEqual(["grant", "revoke"]);
  expect(layer.at(4)).toBe(command);
  followConsentMode(client, "ad_storage");
  expect(told).toEqual(["grant", "revoke", "grant"]);
});

it("takes nothing of Klaro before the person has confirmed it", () => {
  const manager = { confirmed: false, getConsent: () => true, watch: vi.fn() };
  vi.stubGlobal("klaro", { getManager: () => manager });
  followKlaro(client, "statistics");
  const [{ update }] = manager.watch.mock.calls[0] as [{ update: (...told: unknown[]) => void }];
  // A choice in the open window.
  update(manager, "consents");
  expect(told).toEqual([]);
  manager.confirmed = true;
  update(manager, "saveConsents");
  expect(told).toEqual(["grant"]);
});

it("warns if a revocation cannot be stored", async () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  vi.stubGlobal("dataLayer", [["consent", "update", { analytics_storage: "denied" }]]);
  const cause = new Error("no database");
  followConsentMode({ grant: () => {}, revoke: () => Promise.reject(cause) });
  await vi.waitFor(() => expect(warn).toHaveBeenCalledWith(cause));
});
