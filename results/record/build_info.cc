#include "results/record/build_info.h"

#include <string_view>

#include "results/record/build_settings.h"
#include "results/record/source_version.h"

namespace bench::results {
namespace {

/// The text from a generated header, or the reason why it is unavailable.
Captured<std::string> text_or_reason(std::string_view text, std::string_view why) {
  if (text.empty()) return Unknown{std::string(why)};
  return std::string(text);
}

}  // namespace

Source source_info() {
  Source out{.git_rev = text_or_reason(generated::kGitRevision, generated::kGitWhy),
             .dirty = Unknown{generated::kGitWhy},
             .commit_time = text_or_reason(generated::kGitCommitTime, generated::kGitWhy),
             .bench_version = generated::kVersion};
  if (out.git_rev.known()) out.dirty = generated::kGitDirty;
  return out;
}

Build build_info() {
  return {
    .compiler = generated::kCompiler, .version = generated::kCompilerVersion,
    .flags = generated::kFlags, .link_flags = generated::kLinkFlags,
    .build_type = generated::kBuildType, .sanitizer = generated::kSanitizer,
#if defined(__GLIBCXX__)
    .stdlib = fmt::format("libstdc++ {} ({})", _GLIBCXX_RELEASE, __GLIBCXX__),
#elif defined(_LIBCPP_VERSION)
    .stdlib = fmt::format("libc++ {}", _LIBCPP_VERSION),
#else
    .stdlib = "unknown",
#endif
    .libs = {}
  };
}

}  // namespace bench::results
