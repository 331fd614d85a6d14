// Drawn on a grid of 24, with one stroke width for all.
const paths = {
  threads: "M4 6h16M4 12h10M4 18h13",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14ZM20 20l-4-4",
  items: "M4 6.5 6 8.5 9.5 5M4 15.5 6 17.5 9.5 14M13 7h7M13 16h7",
  checkpoints: "M6 3v18M6 6a2 2 0 1 0 .01 0M6 14a2 2 0 1 0 .01 0M11 7h9M11 16h9",
  usage: "M4 20V10M10 20V4M16 20v-7M21 20H3",
  live: "M3 12h4l3-7 4 14 3-7h4",
  plus: "M12 5v14M5 12h14",
  fork: "M7 4v16M7 14c0-4 10-2 10-8M17 6a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  pin: "M9 3h6l-1 6 4 4H6l4-4-1-6ZM12 13v8",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  back: "M15 5l-7 7 7 7",
  close: "M6 6l12 12M18 6 6 18",
  send: "M5 12h13M12 5l7 7-7 7",
  stop: "M7 7h10v10H7z",
  tool: "M14 7a4 4 0 0 1 5-4l-3 3 2 2 3-3a4 4 0 0 1-5 5l-8 8a2 2 0 0 1-3-3l9-8Z",
  window: "M4 5h16v14H4zM4 10h16M9 10v9",
  fold: "M6 9l6 6 6-6",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2v2M12 20v2M4 12H2M22 12h-2M5 5l1.5 1.5M17.5 17.5 19 19M5 19l1.5-1.5M17.5 6.5 19 5",
  moon: "M20 14A8 8 0 0 1 10 4a8 8 0 1 0 10 10Z",
  auto: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 3v18M12 7l5-2M12 12h9M12 17l5 2",
  key: "M15 4a5 5 0 1 0 0 10 5 5 0 0 0 0-10ZM11.5 12.5 4 20M6 18l2 2M9 15l2 2",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  check: "M5 12.5 10 17l9-10",
  alert: "M12 4 2.5 20h19L12 4ZM12 10v5M12 18h.01",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  down: "M12 5v14M5 12l7 7 7-7",
  commit: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM2 12h6M16 12h6",
  help: "M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18h.01",
};

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
