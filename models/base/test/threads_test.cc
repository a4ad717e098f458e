#include "models/base/threads.h"

#include <gmock/gmock.h>
#include <pthread.h>

namespace bench {
namespace {

/// Stacks larger than the address space, so that the system gives no thread.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 50U);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() { pthread_setattr_default_np(&before_); }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST(Threads, NameTheLimitsIfTheyCannotStart) {
  const auto tells = testing::ThrowsMessage<DeviceError>(
      testing::AllOf(testing::HasSubstr("cannot start a thread: "), testing::HasSubstr("ulimit -u"),
                     testing::HasSubstr("pids.max")));
  const NoThreads nothing;
  EXPECT_THAT([] { start_thread([] {}); }, tells);
  EXPECT_THAT([] { start_async([] { return 1; }).get(); }, tells);
}

TEST(Threads, DoTheirWork) {
  int done = 0;
  start_thread([&] { done = 1; }).join();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(start_async([] { return 2; }).get(), 2);
}

}  // namespace
}  // namespace bench
