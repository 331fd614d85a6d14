import { useState } from "preact/hooks";
import { client } from "../lib/api";
import { brief, cost, count, duration, plural } from "../lib/format";
import type { UsageReport, UsageRow, UsageTotals } from "../lib/types";
import { Command, Empty, Failure, Loading } from "../ui/bits";
import { useData } from "../ui/use_data";
import { StackedBars, type Series } from "./plot";

type Split = "agent" | "model";
type Measure = "tokens" | "cost" | "runs";

const kDays = [7, 30, 90];
const kMeasures: Record<Measure, { of: (row: UsageTotals) => number; show: (value: number) => string }> = {
  tokens: { of: (row) => row.inputTokens + row.outputTokens + row.cacheReadTokens, show: brief },
  cost: { of: (row) => row.costUsd, show: cost },
  runs: { of: (row) => row.runs, show: count },
};
const kMaxSeries = 6;
const kDayMs = 86_400_000;

// The days from so many ago until today, as the server names them.
function lastDays(days: number): string[] {
  const today = Date.parse(new Date().toISOString().slice(0, 10));
  return Array.from({ length: days }, (_, at) => new Date(today - (days - 1 - at) * kDayMs).toISOString().slice(0, 10));
}

export function UsageView() {
  const [days, setDays] = useState(30);
  const [split, setSplit] = useState<Split>("agent");
  const [measure, setMeasure] = useState<Measure>("tokens");
  const names = lastDays(days);
  const { data, error, loading, again } = useData<UsageReport>(
    (signal) => client.getUsage({ by: "day", split, since: names[0] + "T00:00:00Z" }, { signal }),
    [days, split],
  );
  const rows = data?.rows ?? [];
  const { of, show } = kMeasures[measure];
  const series = seriesOf(rows, split, names, of);
  return (
    <section class="view wide" aria-label="Usage">
      <h1>Usage</h1>
      <p class="muted">What runs cost, by day, in UTC.</p>
      <div class="toolbar">
        <Choice label="Time" options={kDays.map((one) => [one, `${one} days`])} value={days} onChange={setDays} />
        <Choice label="Split by" options={[["agent", "by agent"], ["model", "by model"]]} value={split} onChange={setSplit} />
        <Choice
          label="Measure"
          options={[["tokens", "tokens"], ["cost", "cost"], ["runs", "runs"]]}
          value={measure}
          onChange={setMeasure}
        />
      </div>
      {error !== undefined && <Failure error={error} again={again} />}
      {!data && loading && <Loading label="Adding up" />}
      {data && data.all.runs === 0 && (
        <Empty title={`No runs in ${days} days`} icon="usage">
          <p>Each run of an agent leaves a record of what it used:</p>
          <p>
            <Command>skein run echo "Hello there"</Command>
          </p>
        </Empty>
      )}
      {data && data.all.runs > 0 && (
        <>
          <Tiles all={data.all} />
          <figure class="plot-box">
            <figcaption>
              {measure} a day, by {split}
            </figcaption>
            <StackedBars days={names} series={series} show={show} whole={measure !== "cost"} label={`${measure} a day by ${split}`} />
            <ul class="legend">
              {series.map((one, index) => (
                <li key={one.name}>
                  <span class={`swatch series-${index}`} /> <bdi>{one.name}</bdi>
                  <span class="muted">{show(one.values.reduce((sum, value) => sum + value, 0))}</span>
                </li>
              ))}
            </ul>
          </figure>
          <Table rows={rows} split={split} />
        </>
      )}
    </section>
  );
}

function seriesOf(rows: UsageRow[], split: Split, days: string[], of: (row: UsageTotals) => number): Series[] {
  const at = new Map(days.map((day, index) => [day, index]));
  const found = new Map<string, number[]>();
  for (const row of rows) {
    const index = at.get(row.day ?? "");
    if (index === undefined) continue;
    const name = row[split] || "not known";
    const values = found.get(name) ?? days.map(() => 0);
    values[index]! += of(row);
    found.set(name, values);
  }
  const total = (one: Series) => one.values.reduce((sum, value) => sum + value, 0);
  const all = [...found].map(([name, values]) => ({ name, values })).sort((a, b) => total(b) - total(a));
  if (all.length <= kMaxSeries) return all;
  const rest = all.slice(kMaxSeries - 1);
  const others = { name: plural(rest.length, "other"), values: days.map((_, day) => rest.reduce((sum, one) => sum + one.values[day]!, 0)) };
  return [...all.slice(0, kMaxSeries - 1), others];
}

function Choice<T extends string | number>(props: {
  label: string;
  options: [T, string][];
  value: T;
  onChange: (value: T) => void;
}) {
  return (
    <div class="segments" role="group" aria-label={props.label}>
      {props.options.map(([value, words]) => (
        <button key={value} type="button" aria-pressed={props.value === value} onClick={() => props.onChange(value)}>
          {words}
        </button>
      ))}
    </div>
  );
}

function Tiles({ all }: { all: UsageTotals }) {
  const tiles: [string, string][] = [
    ["Runs", count(all.runs)],
    ["Tokens in", brief(all.inputTokens)],
    ["Tokens out", brief(all.outputTokens)],
    ["From cache", brief(all.cacheReadTokens)],
    ["Cost", cost(all.costUsd)],
    ["Time", duration(all.durationMs)],
  ];
  return (
    <dl class="tiles">
      {tiles.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Table({ rows, split }: { rows: UsageRow[]; split: Split }) {
  return (
    <details class="figures">
      <summary>The figures</summary>
      <div class="table-scroll" tabIndex={0} role="group" aria-label="The figures">
        <table>
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">{split === "agent" ? "Agent" : "Model"}</th>
              <th scope="col" class="number">Runs</th>
              <th scope="col" class="number">In</th>
              <th scope="col" class="number">Out</th>
              <th scope="col" class="number">Cost</th>
            </tr>
          </thead>
          <tbody>
            {[...rows].reverse().slice(0, 400).map((row) => (
              <tr key={`${row.day} ${row[split] ?? ""}`}>
                <td>{row.day}</td>
                <td>
                  <bdi>{row[split] || "not known"}</bdi>
                </td>
                <td class="number">{count(row.runs)}</td>
                <td class="number">{count(row.inputTokens)}</td>
                <td class="number">{count(row.outputTokens)}</td>
                <td class="number">{cost(row.costUsd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
