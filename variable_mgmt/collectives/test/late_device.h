#pragma once

#include <memory>

#include "kernels/backend.h"

namespace bench {

/// The reference with streams that work on threads of their own, some time after a call has
/// returned, as a GPU's. Their native_handle() is a LateQueue. A stream that ends drops what it has
/// not done.
std::unique_ptr<Backend> make_late_backend();

}  // namespace bench
