#pragma once

#include <string>

#include "bench/flags/flags.h"
#include "bench/plan/settings.h"

namespace bench {

/// A run and the flags that asked for it.
struct Asked {
  const RunSettings& settings;
  const Flags& flags;
};

// Each function returns what makes a flag about real data idle ("without --data_dir"), or "" if
// it has an effect.

std::string unless_data(const Asked& asked);
std::string if_nothing_is_copied_ahead(const Asked& asked);
std::string unless_records(const Asked& asked);
std::string unless_shards(const Asked& asked);
std::string unless_jpegs(const Asked& asked);
std::string unless_imagenet(const Asked& asked);
std::string unless_interleaved(const Asked& asked);
std::string unless_several_read(const Asked& asked);
std::string unless_bad_records_are_skipped(const Asked& asked);
std::string unless_dct_is_chosen(const Asked& asked);
std::string unless_original_pixels(const Asked& asked);
std::string unless_distorted(const Asked& asked);
std::string unless_colors_change(const Asked& asked);

}  // namespace bench
