#pragma once

#include <string_view>
#include <vector>

namespace bench {

/// The flags, written out ("--num_batches", "--dtype=bf16"), that someone means who knows `word` as
/// a flag of another program: PyTorch's examples, timm, torchrun, and the like. `word` has no
/// dashes, and underscores inside. Best first; none for other words.
std::vector<std::string_view> flags_meant_by(std::string_view word);

/// Of a word for which no flag stands: what holds instead, to follow a semicolon; empty: nothing is
/// known of it. `word` is as above.
std::string_view why_no_flag(std::string_view word);

/// The value of `flag` that other programs call `word`, in any case; empty: none.
std::string_view value_meant_by(std::string_view flag, std::string_view word);

}  // namespace bench
