#pragma once

#include <span>

#include "results/record/record.h"

namespace bench {

/// Judges from the sensors if cards computed undisturbed while the steps were timed. Adds warnings
/// and the verdict. With several cards each sentence names its card.
///
/// A run is INVALID in these cases:
///
/// - heat or an external power signal reduced the clocks for more than 1 % of the time;
/// - a power limit below the card's default reduced them for more than 5 % of the time;
/// - the SM clock stayed below 75 % of the card's highest, though not because of the power limit;
/// - other programs computed on the card;
/// - the card detected an error that ECC cannot correct;
/// - an earlier check gave a reason.
///
/// VALID means that none of this was observed; values that could not be read are listed as unread.
/// The verdict is missing if the state of the clocks, or the reason for a low clock, is unknown.
void judge_gpus(std::span<const results::Gpu> gpus, results::Quality& quality);

}  // namespace bench
