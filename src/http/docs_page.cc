// The interface for people: one page of HTML, without scripts and without anything to load.
#include <fmt/format.h>

#include <algorithm>

#include "core/json_array.h"
#include "core/json_fields.h"
#include "http/openapi.h"

namespace skein::http {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --line: #8884; --dim: #666; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --dim: #aaa; --link: #79b8ff; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
a { color: var(--link); } nav a { margin-right: 1rem; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
details { border-bottom: 1px solid var(--line); padding: 0.4rem 0; }
summary { cursor: pointer; } summary code { font-weight: 600; }
table { border-collapse: collapse; width: 100%; margin: 0.5rem 0; }
th, td { text-align: left; vertical-align: top; padding: 0.2rem 0.8rem 0.2rem 0; }
th { font-weight: 600; color: var(--dim); } td p { margin: 0; }
.dim { color: var(--dim); }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// Text with `code` in it.
std::string prose(std::string_view text) {
  std::string out;
  bool code = false;
  std::size_t at = 0;
  while (true) {
    const std::size_t tick = text.find('`', at);
    out += escaped(text.substr(at, tick == std::string_view::npos ? tick : tick - at));
    if (tick == std::string_view::npos) break;
    code = !code;
    out += code ? "<code>" : "</code>";
    at = tick + 1;
  }
  return code ? out + "</code>" : out;
}

std::string joined(RawJson array, std::string_view between, std::string (*show)(RawJson)) {
  std::vector<std::string> parts;
  for (const RawJson element : json_elements(array)) parts.push_back(show(element));
  return fmt::format("{}", fmt::join(parts, between));
}

std::string bounds_of(JsonFields& fields) {
  const auto low = fields.take("minimum", any_json);
  const auto high = fields.take("maximum", any_json);
  const auto length = fields.take("maxLength", any_json);
  if (low && high) return fmt::format(" {} to {}", *low, *high);
  if (low) return fmt::format(" from {}", *low);
  if (length) return fmt::format(", at most {} characters", *length);
  return "";
}

// A schema in a few words, as HTML.
std::string type_of(RawJson schema) {
  JsonFields fields(schema);
  if (const auto reference = fields.take_string("$ref")) {
    const std::string name = escaped(reference->substr(reference->rfind('/') + 1));
    return fmt::format(R"(<a href="#schema-{0}">{0}</a>)", name);
  }
  if (const auto forms = fields.take("anyOf", any_json)) return joined(*forms, " or ", type_of);
  if (const auto values = fields.take("enum", any_json)) {
    return joined(*values, " | ", [](RawJson value) { return escaped(value); });
  }
  if (const auto items = fields.take("items", any_json)) return "list of " + type_of(*items);
  const auto types = fields.take("type", any_json);
  if (!types) return "anything";
  std::string words =
      json_elements(*types).empty()
          ? json_to_string(*types).value_or("")
          : joined(*types, " or ", [](RawJson type) { return json_to_string(type).value_or(""); });
  if (const auto format = fields.take_string("format")) words = *format;
  return escaped(words) + bounds_of(fields);
}

std::string row(std::string_view name, std::string_view place, RawJson schema,
                std::string_view about, bool required) {
  std::string fallback;
  JsonFields fields(schema);
  if (const auto value = fields.take("default", any_json)) {
    fallback = fmt::format(" Default: <code>{}</code>.", escaped(*value));
  }
  return fmt::format(
      "<tr><td><code>{}</code>{}</td><td class=\"dim\">{}</td><td>{}</td><td>{}{}</td></tr>\n",
      escaped(name), required ? " *" : "", place, type_of(schema), prose(about), fallback);
}

// The members of an object's schema, a row each.
std::string member_rows(RawJson schema, std::string_view place) {
  JsonFields fields(schema);
  const auto required = fields.take_strings("required").value_or(std::vector<std::string>());
  const JsonFields members(fields.take_object("properties").value_or("{}"));
  std::string rows;
  for (const JsonFields::Field& member : members.others()) {
    JsonFields one(member.value);
    const bool needed = std::find(required.begin(), required.end(), member.name) != required.end();
    rows +=
        row(member.name, place, member.value, one.take_string("description").value_or(""), needed);
  }
  return rows;
}

std::string body_rows(const BodySpec& body) {
  const std::string rows = member_rows(body.schema.empty() ? "{}" : body.schema, "body");
  if (!rows.empty()) return rows;
  return row("body", body.content_type, body.schema.empty() ? "{}" : body.schema, "",
             body.required);
}

const char* word_for(ParameterIn in) {
  return in == ParameterIn::kPath ? "path" : in == ParameterIn::kHeader ? "header" : "query";
}

std::string route_html(const Route& route) {
  std::string html = fmt::format("<details id=\"{}\"><summary><code>{} {}</code> {}</summary>\n",
                                 escaped(route.name), escaped(route.method), escaped(route.path),
                                 prose(route.summary));
  if (!route.description.empty()) html += fmt::format("<p>{}</p>\n", prose(route.description));
  html += fmt::format("<p class=\"dim\">{} · right: {}</p>\n", escaped(route.name),
                      to_string(route.access));
  std::string rows;
  for (const Parameter& parameter : route.parameters) {
    rows += row(parameter.name, word_for(parameter.in), parameter.schema, parameter.description,
                parameter.required);
  }
  if (route.body) rows += body_rows(*route.body);
  if (!rows.empty()) {
    html += "<table><tr><th>takes</th><th></th><th></th><th></th></tr>\n" + rows + "</table>\n";
  }
  html += "<table><tr><th>gives</th><th></th><th></th></tr>\n";
  for (const ResponseSpec& response : route.responses) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", response.status,
                        response.schema.empty() ? "" : type_of(response.schema),
                        prose(response.description));
  }
  return html + "</table></details>\n";
}

std::string schema_html(const std::string& name, const std::string& schema) {
  std::string html = fmt::format("<details id=\"schema-{0}\"><summary><code>{0}</code></summary>\n",
                                 escaped(name));
  const std::string rows = member_rows(schema, "");
  html += rows.empty() ? fmt::format("<p>{}</p>\n", type_of(schema))
                       : "<table>\n" + rows + "</table>\n";
  return html + "</details>\n";
}

std::vector<std::string> tags_of(const RouteSet& set) {
  std::vector<std::string> tags;
  for (const Route& route : set.routes) {
    if (std::find(tags.begin(), tags.end(), route.tag) == tags.end()) tags.push_back(route.tag);
  }
  return tags;
}

}  // namespace

std::string docs_page(const std::vector<RouteSet>& sets) {
  std::string links;
  std::string body;
  for (const RouteSet& set : sets) {
    if (!set.in_openapi) continue;
    for (const std::string& tag : tags_of(set)) {
      const std::string anchor = escaped(set.name + "-" + tag);
      links += fmt::format("<a href=\"#{}\">{}</a>\n", anchor, escaped(tag));
      body += fmt::format("<h2 id=\"{}\">{}</h2>\n", anchor, escaped(tag));
      for (const Route& route : set.routes) {
        if (route.tag == tag) body += route_html(route);
      }
    }
    if (!set.schemas.empty()) body += fmt::format("<h2>Schemas of {}</h2>\n", escaped(set.name));
    for (const auto& [name, schema] : set.schemas) body += schema_html(name, schema);
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Skein: interface</title>\n<style>{}</style>\n</head>\n<body>\n<h1>Skein</h1>\n"
      "<p>What this server offers. The same for programs: "
      "<a href=\"/openapi.json\">/openapi.json</a>. A star marks what must be given. Keys go into "
      "the header <code>Authorization: Bearer</code>. Errors are "
      "<code>application/problem+json</code> and name the rule and the value.</p>\n"
      "<nav>\n{}</nav>\n<main>\n{}</main>\n</body>\n</html>\n",
      kStyle, links, body);
}

}  // namespace skein::http
