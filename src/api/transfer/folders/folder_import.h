// What every part of the import of a folder works with.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "api/settings.h"
#include "api/transfer/folders/import_report.h"
#include "api/transfer/folders/source_folder.h"
#include "api/transfer/import.h"

namespace skein {

struct FolderImport {
  const SourceFolder& source;
  const Settings& settings;
  Store& store;
  const ImportOptions& options;
  ImportReport& report;

  // Reports something that is left out because it is wrong, and why.
  void fail(std::string_view kind, std::string_view reason, const std::filesystem::path& file,
            std::uint64_t line, std::string message) const {
    report.left_out(kind, reason, LeftOut::kFailed);
    tell(file, line, std::move(message));
  }
  void tell(const std::filesystem::path& file, std::uint64_t line, std::string message) const {
    if (options.problem) options.problem({file, line, std::move(message)});
  }
  // Takes credentials out of valid JSON that may be kept; answers how many there were.
  std::size_t redact(std::string& json) const {
    return options.redactor != nullptr ? options.redactor->redact_json(json) : 0;
  }
};

inline constexpr std::string_view kUnreadable = "cannot be read";

}  // namespace skein
