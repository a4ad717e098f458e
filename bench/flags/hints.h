#pragma once

#include <string_view>
#include <vector>

namespace bench {

/// The flags ("--num_batches", "--dtype=bf16") that correspond to the flag `word` of other
/// programs: PyTorch's examples, timm, torchrun, and the like. `word` has no leading dashes, and
/// underscores between words. Best first; empty for unknown words.
std::vector<std::string_view> flags_meant_by(std::string_view word);

/// The alternative to a flag of other programs that has no counterpart, as the text after a
/// semicolon; empty if unknown. `word` is as above.
std::string_view why_no_flag(std::string_view word);

/// The value of `flag` that other programs call `word`, in any case; empty for unknown words.
std::string_view value_meant_by(std::string_view flag, std::string_view word);

}  // namespace bench
