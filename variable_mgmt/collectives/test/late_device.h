#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bench {

/// The reference backend with streams that work on separate threads some time after a call has
/// returned, like a GPU's. Their native_handle() is a LateQueue. The destructor of a stream drops
/// its pending work.
std::unique_ptr<Backend> make_late_backend();

}  // namespace bench
