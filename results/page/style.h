#pragma once

namespace bench::results {

/// The page's style sheet: both colour schemes, narrow and wide screens, paper.
const char* page_style();

}  // namespace bench::results
