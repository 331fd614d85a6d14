// What Markdown says, without its marks, in one paragraph: for excerpts.
import { lexer, type Token, type Tokens } from "marked";

export function plainText(markdown: string): string {
  try {
    return said(lexer(markdown, { gfm: true }), " ").replace(/\s+/g, " ").trim();
  } catch {
    return markdown;
  }
}

function said(tokens: Token[], between = ""): string {
  return tokens.map((token) => sayings(token)).join(between);
}

function sayings(token: Token): string {
  switch (token.type) {
    case "list":
      return (token as Tokens.List).items.map((item) => `– ${said(item.tokens, " ")}`).join(" ");
    case "table": {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].map((row) => row.map((cell) => said(cell.tokens)).join(" | ")).join("; ");
    }
    case "code":
    case "codespan":
    case "escape":
      return token.text;
    case "br":
      return " ";
    case "blockquote":
      return said(token.tokens ?? [], " ");
    default:
      return "tokens" in token && token.tokens ? said(token.tokens) : token.raw;
  }
}
