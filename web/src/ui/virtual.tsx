// A long list of which only the visible rows are in the page. Rows measure themselves; what one looks
// at stays where it is while rows above it turn out higher or lower than thought.
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Heights } from "../lib/heights";

const kOverscanPx = 600;
const kEndPx = 48; // this near the end one is at the end, and stays there

export interface ListHandle {
  show(index: number, where: "start" | "nearest" | "end"): void;
  end(): void;
  atEnd(): boolean;
}

export interface VirtualProps {
  heights: Heights;
  revision: number; // changes whenever heights or rows did
  row: (index: number) => ComponentChildren;
  hidden?: (index: number) => boolean;
  onRange?: (first: number, last: number) => void;
  onEndChange?: (atEnd: boolean) => void;
  follow?: boolean; // begins, and stays, at the end
  label: string;
  list?: boolean; // its rows are items of a list, and not parts of a text
  handle?: RefObject<ListHandle | null>;
  footer?: ComponentChildren;
  header?: ComponentChildren;
}

export function VirtualList(props: VirtualProps) {
  const { heights } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const spacer = useRef<HTMLDivElement>(null);
  const headerHeight = useRef(0);
  const atEnd = useRef(props.follow ?? false);
  const anchor = useRef({ index: 0, offset: 0 });
  // Where we scrolled to ourselves: what the browser tells of that is nobody's wish.
  const placed = useRef(-1);
  const [range, setRange] = useState({ first: 0, last: -1 });
  const observer = useRef<ResizeObserver>(undefined);

  const look = () => {
    const box = scroller.current;
    if (!box) return;
    const top = box.scrollTop - headerHeight.current;
    const first = heights.at(Math.max(0, top - kOverscanPx));
    const last = Math.min(heights.at(Math.max(0, top) + box.clientHeight + kOverscanPx), heights.count - 1);
    const index = heights.at(Math.max(0, top));
    anchor.current = { index, offset: top - heights.top(index) };
    setRange((old) => (old.first === first && old.last === last ? old : { first, last }));
    props.onRange?.(first, last);
  };

  const scrollTo = (box: HTMLElement, top: number) => {
    box.scrollTop = top;
    placed.current = box.scrollTop;
  };

  // Puts things back to where they were before heights changed.
  const settle = () => {
    const box = scroller.current;
    if (!box) return;
    if (spacer.current) spacer.current.style.height = `${heights.total}px`;
    if (atEnd.current) scrollTo(box, box.scrollHeight);
    else {
      const { index, offset } = anchor.current;
      const wanted = heights.top(Math.min(index, heights.count)) + offset + headerHeight.current;
      if (Math.abs(wanted - box.scrollTop) > 0.5) scrollTo(box, wanted);
    }
    look();
  };

  const onScroll = () => {
    const box = scroller.current!;
    const now = box.scrollTop + box.clientHeight >= box.scrollHeight - kEndPx;
    const wished = Math.abs(box.scrollTop - placed.current) > 1;
    if (props.follow !== undefined && wished && now !== atEnd.current) {
      atEnd.current = now;
      props.onEndChange?.(now);
    }
    look();
  };

  const measured = useRef<(entries: ResizeObserverEntry[]) => void>(() => {});
  measured.current = (entries) => {
    let changed = false;
    for (const entry of entries) {
      const element = entry.target as HTMLElement;
      if (element === scroller.current) changed = true;
      else if (element.dataset.part === "footer") changed = true;
      else if (element.dataset.part === "header") {
        headerHeight.current = element.offsetHeight;
        changed = true;
      } else if (element.isConnected) {
        const height = entry.borderBoxSize[0]?.blockSize ?? element.offsetHeight;
        if (heights.set(Number(element.dataset.index), height)) changed = true;
      }
    }
    if (changed) settle();
  };
  if (!observer.current) observer.current = new ResizeObserver((entries) => measured.current(entries));

  useLayoutEffect(settle, [props.revision, heights]);
  useEffect(() => {
    const watching = observer.current!;
    watching.observe(scroller.current!);
    return () => watching.disconnect();
  }, []);

  useImperativeHandle(
    props.handle ?? null,
    () => ({
      show(index, where) {
        const box = scroller.current!;
        const top = heights.top(index) + headerHeight.current;
        const bottom = top + heights.of(index);
        const above = top < box.scrollTop;
        const below = bottom > box.scrollTop + box.clientHeight;
        if (where === "nearest" && !above && !below) return;
        atEnd.current = false;
        props.onEndChange?.(false);
        const toTop = where === "start" || (where === "nearest" && above);
        scrollTo(box, toTop ? top : bottom - box.clientHeight);
        look();
      },
      end() {
        atEnd.current = true;
        props.onEndChange?.(true);
        settle();
      },
      atEnd: () => atEnd.current,
    }),
    [heights],
  );

  const rows: ComponentChildren[] = [];
  for (let index = range.first; index <= Math.min(range.last, heights.count - 1); ++index) {
    if (props.hidden?.(index)) continue;
    rows.push(
      <Row key={index} index={index} observer={observer.current} list={props.list ?? false} of={heights.count}>
        {props.row(index)}
      </Row>,
    );
  }
  const shift = heights.top(range.first);
  return (
    <div
      ref={scroller}
      class="virtual"
      onScroll={onScroll}
      tabIndex={0}
      role="region"
      aria-label={props.label}
    >
      {props.header && (
        <Part name="header" observer={observer.current}>
          {props.header}
        </Part>
      )}
      <div ref={spacer} class="virtual-space">
        <div
          class="virtual-rows"
          style={{ transform: `translateY(${shift}px)` }}
          role={props.list ? "list" : undefined}
        >
          {rows}
        </div>
      </div>
      {props.footer && (
        <Part name="footer" observer={observer.current}>
          {props.footer}
        </Part>
      )}
    </div>
  );
}

function useObserved(observer: ResizeObserver): RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const watched = element.current!;
    observer.observe(watched);
    return () => observer.unobserve(watched);
  }, [observer]);
  return element;
}

function Row(props: {
  index: number;
  of: number;
  observer: ResizeObserver;
  list: boolean;
  children: ComponentChildren;
}) {
  const element = useObserved(props.observer);
  const list = props.list ? { role: "listitem", "aria-posinset": props.index + 1, "aria-setsize": props.of } : {};
  return (
    <div ref={element} class="virtual-row" data-index={props.index} {...(list as object)}>
      {props.children}
    </div>
  );
}

function Part(props: { name: string; observer: ResizeObserver; children: ComponentChildren }) {
  const element = useObserved(props.observer);
  return (
    <div ref={element} data-part={props.name}>
      {props.children}
    </div>
  );
}
