#include "core/name_uuid.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/string_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

namespace skein {

std::string name_uuid(std::string_view space, std::string_view name) {
  const auto names = boost::uuids::string_generator()(space.begin(), space.end());
  return to_string(boost::uuids::name_generator_sha1(names)(name.data(), name.size()));
}

}  // namespace skein
