// node generate.mjs DOCUMENT [--check]: writes src/api.ts from an OpenAPI document of the server,
// a file or the URL of /openapi.json. --check writes nothing, and fails if it would.
import { readFile, writeFile } from "node:fs/promises";

const target = new URL("./src/api.ts", import.meta.url);

const words = (text) => (text ?? "").replaceAll("*/", "* /");
const isName = (text) => /^[A-Za-z_$][\w$]*$/.test(text);
const key = (name) => (isName(name) ? name : JSON.stringify(name));

function typeOf(schema, indent = "") {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => typeOf(one, indent)))].join(" | ");
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(" | ");
  }
  switch (schema.type) {
    case "string":
      return "string";
    case "integer":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array": {
      const item = typeOf(schema.items ?? {}, indent);
      return /[|\s]/.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
    }
    case "object":
      return objectType(schema, indent);
    default:
      return "unknown";
  }
}

function objectType(schema, indent) {
  const others = schema.additionalProperties ?? true;
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) {
    return others === false ? "Record<string, never>" : `Record<string, ${others === true ? "unknown" : typeOf(others, indent)}>`;
  }
  const inner = `${indent}  `;
  const lines = members.map(([name, member]) => {
    const optional = (schema.required ?? []).includes(name) ? "" : "?";
    const about = member.description ? `${inner}/** ${words(member.description)} */\n` : "";
    return `${about}${inner}${key(name)}${optional}: ${typeOf(member, inner)};\n`;
  });
  if (others === true) lines.push(`${inner}[other: string]: unknown;\n`);
  return `{\n${lines.join("")}${indent}}`;
}

function schemas(document) {
  return Object.entries(document.components.schemas)
    .map(([name, schema]) => {
      const type = typeOf(schema);
      return type.startsWith("{") ? `export interface ${name} ${type}\n` : `export type ${name} = ${type};\n`;
    })
    .join("\n");
}

// Headers as options of a call: "If-Match" is `ifMatch`.
const optionName = (header) =>
  header
    .split("-")
    .map((part, i) => (i === 0 ? part.toLowerCase() : part[0].toUpperCase() + part.slice(1).toLowerCase()))
    .join("");

function operation(path, method, described) {
  const parameters = described.parameters ?? [];
  const inPath = parameters.filter((one) => one.in === "path");
  const inQuery = parameters.filter((one) => one.in === "query");
  const inHeader = parameters.filter((one) => one.in === "header");
  const good = Object.entries(described.responses).filter(([status]) => status.startsWith("2"));
  const contents = good.map(([, response]) => response.content ?? {});
  const streams = contents.some((content) => content["text/event-stream"]);
  const results = new Set(
    contents.map((content) => (content["application/json"] ? typeOf(content["application/json"].schema, "  ") : "void")),
  );

  const takes = inPath.map((one) => `${one.name}: ${typeOf(one.schema)}`);
  const sends = [
    `method: ${JSON.stringify(method.toUpperCase())}`,
    `path: \`${path.replace(/\{(\w+)\}/g, "${encodeURIComponent($1)}")}\``,
  ];
  if (described.requestBody) {
    const type = typeOf(described.requestBody.content["application/json"].schema, "    ");
    takes.push(described.requestBody.required ? `body: ${type}` : `body: ${type} = {}`);
    sends.push("body");
  }
  if (inQuery.length > 0) {
    const type = objectType(
      {
        properties: Object.fromEntries(
          inQuery.map((one) => [one.name, { ...one.schema, description: one.description }]),
        ),
        required: inQuery.filter((one) => one.required).map((one) => one.name),
        additionalProperties: false,
      },
      "    ",
    );
    takes.push(inQuery.some((one) => one.required) ? `query: ${type}` : `query: ${type} = {}`);
    sends.push("query");
  }
  const options = inHeader.map((one) => `${optionName(one.name)}?: string`);
  takes.push(`options: CallOptions${options.length ? ` & { ${options.join("; ")} }` : ""} = {}`);
  if (inHeader.length > 0) {
    const headers = inHeader.map((one) => `${JSON.stringify(one.name)}: options.${optionName(one.name)}`);
    sends.push(`headers: { ${headers.join(", ")} }`);
  }
  const about = [described.summary, described.description].filter(Boolean).join(". ").replace(/\.\. /g, ". ");
  const result = streams ? "AsyncIterable<ServerEvent>" : `Promise<${[...results].join(" | ")}>`;
  return `  /** ${words(about)} */
  ${described.operationId}(
${takes.map((one) => `    ${one},\n`).join("")}  ): ${result} {
    return this.${streams ? "open" : "send"}({ ${sends.join(", ")} }, options);
  }
`;
}

function operations(document) {
  const methods = [];
  for (const [path, item] of Object.entries(document.paths)) {
    if (!path.startsWith("/v1/")) continue;
    for (const [method, described] of Object.entries(item)) methods.push(operation(path, method, described));
  }
  return methods.join("\n");
}

function generated(document) {
  return `// Made by generate.mjs from the server's OpenAPI document; not to be edited.

${schemas(document)}
/** What every call takes besides. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** One call, ready to be sent. */
export interface Call {
  method: string;
  path: string;
  body?: unknown;
  query?: object;
  headers?: Record<string, string | undefined>;
}

/** A server-sent event; \`data\` is its JSON, read. */
export interface ServerEvent {
  event: string;
  data: any;
  id?: string;
}

/** The operations of /v1. */
export abstract class Operations {
  protected abstract send<T>(call: Call, options: CallOptions): Promise<T>;
  protected abstract open(call: Call, options: CallOptions): AsyncIterable<ServerEvent>;

${operations(document)}}
`;
}

const [source, flag] = process.argv.slice(2);
if (!source) {
  console.error("usage: node generate.mjs DOCUMENT [--check]");
  process.exit(2);
}
const text = /^https?:/.test(source) ? await (await fetch(source)).text() : await readFile(source, "utf8");
const made = generated(JSON.parse(text));
if (flag === "--check") {
  if ((await readFile(target, "utf8").catch(() => "")) !== made) {
    console.error("src/api.ts is not what the server's document makes: run generate.mjs on it");
    process.exit(1);
  }
} else {
  await writeFile(target, made);
}
