#include "bench/runs/attempt.h"

#include <ostream>

#include "bench/loop/session.h"
#include "bench/terminal/phase_watch.h"
#include "models/base/text.h"

namespace bench {

void Attempt::at(const std::function<void()>& part) {
  if (!succeeded()) {
    return;
  }
  try {
    part();
  } catch (const RunEnded&) {
    throw;
  } catch (const LossError& error) {
    fail(error.what());
  } catch (const MismatchError& error) {
    fail(error.what());
  } catch (const std::exception& error) {
    fail(error.what());
    fatal_ = std::current_exception();
  }
}

void Attempt::fail(std::string reason) {
  failed_ = true;
  reason_ = std::move(reason);
}

int Attempt::end(std::ostream& err) const {
  if (fatal_ != nullptr) {
    std::rethrow_exception(fatal_);
  }
  err << "bench: " << printable(reason_) << "\n";
  return 1;
}

}  // namespace bench
