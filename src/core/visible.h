// Text that cannot deceive its reader, be that a person or a model.
#pragma once

#include <string>
#include <string_view>

namespace skein {

// Control characters and what reorders or hides text are shown as escapes, so that stored text
// cannot play tricks on the reader. Line feeds and tabs stay.
std::string visible(std::string_view text);
// JSON, or what a program says itself, without characters that reorder or hide text: they become
// the escapes of JSON, inside whose strings alone they can stand. Control characters below U+007F,
// which JSON has as escapes already, stay.
std::string visible_json(std::string_view text);
// The same on one line: line feeds and tabs are escaped too.
std::string visible_line(std::string_view text);

}  // namespace skein
