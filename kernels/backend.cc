#include "kernels/backend.h"

#include <ostream>

namespace bench {

std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << layout.token(); }

std::string_view name_of(DataFormat format) {
  switch (format) {
    case DataFormat::nchw:
      return "NCHW";
    case DataFormat::nhwc:
      return "NHWC";
    case DataFormat::automatic:
      return "auto";
  }
  return "?";
}

}  // namespace bench
