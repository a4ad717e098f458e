#pragma once

#include <span>

#include "results/record.h"

namespace bench {

/// Judges by their sensors whether cards computed undisturbed while the steps were timed: adds
/// warnings, and the verdict. INVALID, for each of its reasons: heat or an outer power signal held
/// the clocks down for more than 1 % of the time, a power limit below the card's own for more than
/// 5 %; the SM clock stayed below 75 % of the card's highest without being at the limit of power;
/// others computed on the card; it saw an error that ECC cannot correct; or there was a reason
/// before. VALID says that nothing of this was seen: what could not be read is listed beside it, as
/// unread. No verdict where nothing tells what became of the clocks, or why a low one was low. Of
/// several cards each sentence names its own.
void judge_gpus(std::span<const results::Gpu> gpus, results::Quality& quality);

}  // namespace bench
