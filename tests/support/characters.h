// Characters for text that is made at random.
#pragma once

#include <string>

namespace skein::test {

void append_utf8(std::string& text, char32_t c);

// Characters that Unicode had assigned when our tables were made; others may get another class.
bool is_assigned(char32_t c);

// Whether Unicode leaves its meaning to others.
bool is_private(char32_t c);

}  // namespace skein::test
