// Bars over days, one upon the other.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ticks } from "../lib/ticks";

export interface Series {
  name: string;
  values: number[]; // one a day
}

const kHeight = 260;
const kLeft = 52;
const kRight = 8;
const kTop = 12;
const kBottom = 26;

interface Plot {
  days: string[];
  series: Series[];
  show: (value: number) => string;
  whole: boolean; // there are no halves of what is counted
  label: string;
}

export function StackedBars(props: Plot) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(720);
  const [over, setOver] = useState<number | undefined>();
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.max(280, entry!.contentRect.width)));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const { days, series, show } = props;
  const sums = days.map((_, day) => series.reduce((sum, one) => sum + one.values[day]!, 0));
  const marks = ticks(Math.max(...sums), props.whole);
  const top = marks.at(-1)!;
  const plain = kHeight - kTop - kBottom;
  const step = (width - kLeft - kRight) / days.length;
  const bar = Math.max(2, Math.min(28, step * 0.72));
  const y = (value: number) => kTop + plain - (value / top) * plain;
  const labels = Math.max(1, Math.ceil(days.length / Math.max(2, Math.floor((width - kLeft) / 70))));
  return (
    <div ref={box} class="plot">
      <svg width={width} height={kHeight} role="img" aria-label={props.label} onMouseLeave={() => setOver(undefined)}>
        {marks.map((mark) => (
          <g key={mark} class="grid">
            <line x1={kLeft} x2={width - kRight} y1={y(mark)} y2={y(mark)} />
            <text x={kLeft - 8} y={y(mark) + 4} text-anchor="end">
              {show(mark)}
            </text>
          </g>
        ))}
        {days.map((day, at) => {
          const x = kLeft + step * at + (step - bar) / 2;
          let sum = 0;
          return (
            <g key={day} class={over === at ? "day over" : "day"} onMouseEnter={() => setOver(at)}>
              <rect class="catch" x={kLeft + step * at} y={kTop} width={step} height={plain} />
              {series.map((one, index) => {
                const value = one.values[at]!;
                if (value === 0) return null;
                sum += value;
                const height = Math.max(0.5, (value / top) * plain);
                return <rect key={one.name} class={`series-${index}`} x={x} y={y(sum)} width={bar} height={height} rx={1.5} />;
              })}
              {(days.length - 1 - at) % labels === 0 && (
                <text class="tick" x={kLeft + step * (at + 0.5)} y={kHeight - 6} text-anchor="middle">
                  {day.slice(5).replace("-", "/")}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      {over !== undefined && (
        <div class="plot-tip" style={{ left: `${Math.min(width - 180, Math.max(0, kLeft + step * over - 60))}px` }}>
          <strong>{days[over]}</strong>
          {series.map((one, index) =>
            one.values[over]! > 0 ? (
              <span key={one.name}>
                <span class={`swatch series-${index}`} /> <bdi>{one.name}</bdi> {show(one.values[over]!)}
              </span>
            ) : null,
          )}
          {sums[over] === 0 && <span>nothing</span>}
        </div>
      )}
    </div>
  );
}
