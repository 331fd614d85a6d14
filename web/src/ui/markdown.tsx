// Markdown as elements, never as HTML: what somebody wrote can become text, emphasis, lists, tables,
// code and links with harmless addresses, and nothing else.
import { lexer, type Token, type Tokens } from "marked";
import type { ComponentChild } from "preact";
import { useMemo, useState } from "preact/hooks";
import { count } from "../lib/format";
import { CopyButton } from "./bits";

// Beyond these, text is shown as it is: parsing is for what people read.
const kMaxMarkdown = 60_000;
const kMaxLine = 5_000;
const kFirstPlain = 8_000;

export function Markdown({ text }: { text: string }) {
  const plain = useMemo(() => text.length > kMaxMarkdown || hasHugeLine(text), [text]);
  if (plain) return <LongText text={text} />;
  return <Parsed text={text} />;
}

function Parsed({ text }: { text: string }) {
  const tokens = useMemo(() => {
    try {
      return lexer(text, { gfm: true });
    } catch {
      return undefined;
    }
  }, [text]);
  if (!tokens) return <LongText text={text} />;
  return (
    <div class="markdown" dir="auto">
      {blocks(tokens)}
    </div>
  );
}

// Places where a line without spaces may end. Browsers find such places by themselves, but take many
// seconds over some lines of 20,000 characters.
const kWordLength = 64;
function breakable(text: string): ComponentChild {
  if (!hasHugeLine(text)) return text;
  const parts: ComponentChild[] = [];
  for (let at = 0; at < text.length; at += kWordLength) {
    parts.push(text.slice(at, at + kWordLength), <wbr />);
  }
  return parts;
}

// Text as it is, at first as much as one wants to see of it.
export function LongText({ text }: { text: string }) {
  const [shown, setShown] = useState(kFirstPlain);
  return (
    <div class="long-text">
      <div class="plain" dir="auto">
        {useMemo(() => breakable(text.slice(0, shown)), [text, shown])}
      </div>
      {text.length > shown && (
        <button type="button" class="button" onClick={() => setShown(shown * 8)}>
          Show more ({count(text.length - shown)} characters)
        </button>
      )}
    </div>
  );
}

export function CodeBlock({ text, lang = "" }: { text: string; lang?: string }) {
  const [shown, setShown] = useState(kFirstPlain);
  return (
    <div class="code-block">
      <div class="code-head">
        <span>{lang}</span>
        <CopyButton text={() => text} label="Copy this code" />
      </div>
      <pre tabIndex={0} aria-label={lang ? `Code, ${lang}` : "Code"}>
        <code>{text.slice(0, shown)}</code>
      </pre>
      {text.length > shown && (
        <button type="button" class="button" onClick={() => setShown(shown * 8)}>
          Show more ({count(text.length - shown)} characters)
        </button>
      )}
    </div>
  );
}

function hasHugeLine(text: string): boolean {
  let begin = 0;
  while (begin < text.length) {
    const end = text.indexOf("\n", begin);
    if ((end < 0 ? text.length : end) - begin > kMaxLine) return true;
    if (end < 0) return false;
    begin = end + 1;
  }
  return false;
}

// Addresses that only ever open a page or a mail program. Others are shown, not linked.
export function harmless(address: string): string | undefined {
  try {
    const url = new URL(address);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

function blocks(tokens: Token[]): ComponentChild[] {
  return tokens.map((token, index) => block(token, index));
}

function block(token: Token, key: number): ComponentChild {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      // Headings of a message are below those of the page.
      const level = Math.min((token as Tokens.Heading).depth + 2, 6);
      return (
        <div key={key} role="heading" aria-level={level} class={`heading heading-${level}`}>
          {inlines(token.tokens)}
        </div>
      );
    }
    case "paragraph":
      return <p key={key}>{inlines(token.tokens)}</p>;
    case "text":
      return <p key={key}>{token.tokens ? inlines(token.tokens) : unescaped(token)}</p>;
    case "code":
      return <CodeBlock key={key} text={token.text} lang={firstWord((token as Tokens.Code).lang)} />;
    case "blockquote":
      return <blockquote key={key}>{blocks(token.tokens ?? [])}</blockquote>;
    case "list":
      return list(token as Tokens.List, key);
    case "table":
      return table(token as Tokens.Table, key);
    case "hr":
      return <hr key={key} />;
    default:
      // HTML among them: it is text.
      return (
        <p key={key} class="plain">
          {token.raw}
        </p>
      );
  }
}

function firstWord(text: string | undefined): string {
  return (text ?? "").trim().split(/\s/, 1)[0] ?? "";
}

function list(token: Tokens.List, key: number): ComponentChild {
  const items = token.items.map((item, index) => (
    <li key={index}>
      {item.task && (item.checked ? "☑ " : "☐ ")}
      {item.tokens.map((one, at) =>
        one.type === "text" && !token.loose
          ? inlines(one.tokens ?? [])
          : one.type === "checkbox"
            ? null
            : block(one, at),
      )}
    </li>
  ));
  if (!token.ordered) return <ul key={key}>{items}</ul>;
  return (
    <ol key={key} start={Number(token.start) || 1}>
      {items}
    </ol>
  );
}

function table(token: Tokens.Table, key: number): ComponentChild {
  const align = (at: number) => `align-${token.align[at] ?? "start"}`;
  return (
    <div key={key} class="table-scroll" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at} class={align(at)}>
                {inlines(cell.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, at) => (
                <td key={at} class={align(at)}>
                  {inlines(cell.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: Token[] | undefined): ComponentChild[] {
  return (tokens ?? []).map((token, index) => inline(token, index));
}

function inline(token: Token, key: number): ComponentChild {
  switch (token.type) {
    case "strong":
      return <strong key={key}>{inlines(token.tokens)}</strong>;
    case "em":
      return <em key={key}>{inlines(token.tokens)}</em>;
    case "del":
      return <del key={key}>{inlines(token.tokens)}</del>;
    case "codespan":
      return <code key={key}>{token.text}</code>;
    case "br":
      return <br key={key} />;
    case "link":
      return anchor(token as Tokens.Link, key);
    case "image":
      // Nothing is fetched: the picture's name and address stand for it.
      return <span key={key}>{`[${token.text || "image"}] ${(token as Tokens.Image).href}`}</span>;
    case "text":
    case "escape":
      return "tokens" in token && token.tokens ? inlines(token.tokens) : unescaped(token);
    default:
      return token.raw;
  }
}

function anchor(token: Tokens.Link, key: number): ComponentChild {
  const address = harmless(token.href);
  if (!address) return <span key={key}>{token.raw}</span>;
  return (
    <a key={key} href={address} target="_blank" rel="noopener noreferrer nofollow">
      {inlines(token.tokens)}
    </a>
  );
}

// The text of a token as its author typed it, character references aside: we make no HTML of it.
function unescaped(token: Token): string {
  return token.type === "escape" ? token.text : token.raw;
}
