// The chapter that asks the same people the same question in two ways: in local reports, and in
// messages through a shuffler. Both ways have the same ε.

import { Both, type BothEstimates } from "../../shared/analysis.js";
import { byId, el, setAttributes } from "../../shared/dom.js";
import {
  formatCount,
  formatCountWithNoun,
  formatLossSixDecimals,
  formatScientific,
  formatThreeDigits,
} from "../../shared/format.js";
import { createChartAndTable } from "../figure.js";
import { drawSeed } from "../randomness.js";
import { BothWaysChart } from "./chart.js";
import { SentDataView } from "./sent.js";
import { answersOfPeople, FIRST_TOPIC, TOPICS, type Topic } from "./topics.js";

/**
 * Numbers of people to choose from. The first is the minimum that the shuffler needs for a batch.
 */
const SIZES = [FIRST_TOPIC.task.people, 30_000, 100_000];
/** Number of people asked between two pauses. Asking them takes about 10 ms. */
const PEOPLE_PER_SLICE = 500;
const CONFIDENCE = 0.95;

export class BothWaysSection {
  readonly #onTrouble: (error: unknown) => void;
  readonly #sizeSelect = byId<HTMLSelectElement>("both-size");
  readonly #button = byId<HTMLButtonElement>("both-ask");
  readonly #bar = byId<HTMLProgressElement>("both-progress");
  readonly #chart: BothWaysChart;
  #topic = FIRST_TOPIC;
  #simulation = createSimulation(FIRST_TOPIC);
  #askingAbortController: AbortController | null = null;

  constructor(onTrouble: (error: unknown) => void) {
    this.#onTrouble = onTrouble;
    byId("both-plot").append(
      ...createChartAndTable("both-chart", "Estimates", [
        "Number or option",
        "Truth",
        "Local estimate",
        "Local 95% interval",
        "Shuffled estimate",
        "Shuffled 95% interval",
      ]),
    );
    // Six columns do not fit a narrow screen, so the table scrolls and needs the focus.
    const table = document.querySelector("#both-plot .tabulated");
    if (table)
      setAttributes(table, { tabindex: 0, role: "region", "aria-label": "Estimates as a table" });
    this.#chart = new BothWaysChart();
    this.#sizeSelect.append(
      ...SIZES.map((size) => el("option", { value: size }, `${formatCount(size)} people`)),
    );
    this.#button.addEventListener("click", () => {
      if (this.#askingAbortController) this.#askingAbortController.abort();
      else void this.#ask(Number(this.#sizeSelect.value));
    });
    const topics = byId<HTMLSelectElement>("both-topic");
    const named = Object.entries(TOPICS).map(([value, { name }]) => el("option", { value }, name));
    topics.append(...named);
    const sent = new SentDataView(() => [this.#simulation, this.#topic], onTrouble);
    topics.addEventListener("change", () => {
      this.#replaceSimulation(TOPICS[topics.value] ?? FIRST_TOPIC);
      sent.show();
    });
    this.#showPrivacyPromises();
    this.#showEstimates(null);
    sent.show();
  }

  /** Asks nobody yet about another topic. */
  #replaceSimulation(topic: Topic): void {
    this.#askingAbortController?.abort();
    this.#simulation.free();
    this.#topic = topic;
    this.#simulation = createSimulation(topic);
    byId("both-status").textContent = "";
    this.#showPrivacyPromises();
    this.#showEstimates(null);
  }

  #showPrivacyPromises(): void {
    const { local_epsilon, local_statement, shuffled, messages } = this.#simulation.promises;
    byId("both-local-epsilon").textContent = `local ε = ${formatLossSixDecimals(local_epsilon)}`;
    byId("both-local-statement").textContent = local_statement;
    byId("both-central-epsilon").textContent =
      `no local ε; central ε = ${formatLossSixDecimals(shuffled.central_epsilon)}, δ = ${formatScientific(shuffled.delta.toExponential())}`;
    byId("both-shuffled-statement").textContent = shuffled.statement;
    const isEqual = this.#topic.task.questions === undefined;
    byId("both-count").textContent =
      `${isEqual ? "" : "at most "}${formatCountWithNoun(messages, "message")}`;
  }

  async #ask(people: number): Promise<void> {
    const asking = new AbortController();
    this.#askingAbortController = asking;
    this.#button.textContent = "Stop";
    this.#bar.hidden = false;
    this.#bar.value = 0;
    const status = byId("both-status");
    status.textContent = `Asking ${formatCount(people)} people in both ways …`;
    const topic = this.#topic;
    const both = createSimulation(topic);
    try {
      for (let first = 0; first < people && !asking.signal.aborted; first += PEOPLE_PER_SLICE) {
        both.add(answersOfPeople(topic, first, Math.min(PEOPLE_PER_SLICE, people - first)));
        this.#bar.value = (first + PEOPLE_PER_SLICE) / people;
        // Let the page handle input and paint.
        await new Promise((rested) => setTimeout(rested));
      }
      if (asking.signal.aborted) {
        both.free();
        if (topic !== this.#topic) return;
        status.textContent =
          "Stopped. A shuffler holds back a batch of too few people, so there is nothing to show.";
        return;
      }
      this.#simulation.free();
      this.#simulation = both;
      const found = both.estimates(CONFIDENCE);
      this.#showEstimates(found);
      status.textContent = askedPeopleText(found);
    } catch (error) {
      status.textContent = "The simulation was interrupted.";
      this.#onTrouble(error);
    } finally {
      this.#askingAbortController = null;
      this.#button.textContent = "Ask them in both ways";
      this.#bar.hidden = true;
    }
  }

  #showEstimates(found: BothEstimates | null): void {
    byId("both-plot").hidden = found === null;
    this.#chart.show(found, this.#topic.chartTitle);
    byId("both-verdict").textContent = found === null ? "" : bothWaysVerdict(found);
  }
}

function createSimulation({ task }: Topic): Both {
  return new Both(task, drawSeed());
}

/**
 * Compares both ways in words: the ratio of the standard errors, and the number of intervals that
 * contain the truth.
 */
export function bothWaysVerdict({ people, items }: BothEstimates): string {
  const ratios = items.map(({ local, shuffled }) => local.standard_error / shuffled.standard_error);
  const times = ratios.reduce((sum, own) => sum + own, 0) / ratios.length;
  const held = (way: "local" | "shuffled") =>
    items.filter(({ truth, [way]: { simultaneous_interval: ends } }) => {
      return ends[0] <= truth && truth <= ends[1];
    }).length;
  return `${formatCount(people)} people, at the same ε: standard errors through the shuffler are ${formatThreeDigits(times)} times smaller than with local reports, but the shuffler has to be trusted. The truth lies inside ${held("local")} of ${items.length} local intervals and inside ${held("shuffled")} of ${items.length} shuffled intervals.`;
}

function askedPeopleText({ people }: BothEstimates): string {
  return `${formatCount(people)} people were asked in both ways. Nothing was sent.`;
}
