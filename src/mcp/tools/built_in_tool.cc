#include "mcp/tools/tools.h"

namespace skein::mcp {

Tool tool_of(BuiltInTool built_in) {
  return {.name = built_in.definition.name,
          .title = built_in.definition.name,
          .description = built_in.definition.description,
          .run = [call = std::move(built_in.call)](const Arguments& arguments,
                                                   const Exchange& exchange) -> ToolOutcome {
            ToolResult result = call(arguments.object(), exchange.stop);
            return ToolAnswer{.text = std::move(result.text), .is_error = result.is_error};
          },
          .own_schema = built_in.definition.input_schema};
}

}  // namespace skein::mcp
