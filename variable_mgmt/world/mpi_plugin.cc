// The plug-in of one MPI library. CMake compiles it once per library.

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <deque>
#include <string_view>
#include <vector>

#include "variable_mgmt/world/mpi_api.h"

namespace bench {
namespace {

struct Request {
  MPI_Request handle = MPI_REQUEST_NULL;
  /// The bytes to receive; -1: the request does not only receive.
  int expected = -1;
};

/// A deque, because MPI keeps the addresses of pending requests.
std::deque<Request>& requests() {
  static std::deque<Request> all;
  return all;
}
std::vector<std::int64_t>& free_requests() {
  static std::vector<std::int64_t> free;
  return free;
}

std::int64_t take_request() {
  if (free_requests().empty()) {
    requests().emplace_back();
    return static_cast<std::int64_t>(requests().size()) - 1;
  }
  const std::int64_t number = free_requests().back();
  free_requests().pop_back();
  return number;
}

int error_of(int status) { return status == MPI_SUCCESS ? 0 : -status; }

int init() {
  int provided = 0;
  const int status = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (status != MPI_SUCCESS) {
    return error_of(status);
  }
  return provided < MPI_THREAD_FUNNELED
             ? -MPI_ERR_OTHER
             : error_of(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

int rank() {
  int number = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  return number;
}

int size() {
  int number = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &number);
  return number;
}

const char* library() {
  static std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text;
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return text.data();
}

std::int64_t send(int peer, int tag, const void* data, std::size_t bytes) {
  if (bytes > INT_MAX) {
    return -MPI_ERR_COUNT;
  }
  const std::int64_t request = take_request();
  Request& made = requests()[static_cast<std::size_t>(request)];
  made.expected = -1;
  const int status =
      MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, peer, tag, MPI_COMM_WORLD, &made.handle);
  return status == MPI_SUCCESS ? request : error_of(status);
}

std::int64_t receive(int peer, int tag, void* data, std::size_t bytes) {
  if (bytes > INT_MAX) {
    return -MPI_ERR_COUNT;
  }
  const std::int64_t request = take_request();
  Request& made = requests()[static_cast<std::size_t>(request)];
  made.expected = static_cast<int>(bytes);
  const int status =
      MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, peer, tag, MPI_COMM_WORLD, &made.handle);
  return status == MPI_SUCCESS ? request : error_of(status);
}

std::int64_t all_reduce(void* data, std::size_t bytes, std::size_t width) {
  const std::size_t count = bytes / width;
  if (count > INT_MAX) {
    return -MPI_ERR_COUNT;
  }
  const std::int64_t request = take_request();
  Request& made = requests()[static_cast<std::size_t>(request)];
  made.expected = -1;
  const int status = MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count),
                                    width == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM,
                                    MPI_COMM_WORLD, &made.handle);
  return status == MPI_SUCCESS ? request : error_of(status);
}

int test(std::int64_t request) {
  Request& tested = requests()[static_cast<std::size_t>(request)];
  int done = 0;
  MPI_Status received;
  const int status = MPI_Test(&tested.handle, &done, &received);
  if (status != MPI_SUCCESS) {
    return error_of(status);
  }
  if (done == 0) {
    return 0;
  }
  free_requests().push_back(request);
  int bytes = tested.expected;
  if (tested.expected >= 0) {
    MPI_Get_count(&received, MPI_BYTE, &bytes);
  }
  return bytes == tested.expected ? 1 : -MPI_ERR_TRUNCATE;
}

#ifdef MPICH_NUMVERSION
/// Reports to the launcher that this process exits normally, through PMI-1: writes a
/// command to the descriptor PMI_FD, and reads the answer. Returns false if the launcher has no
/// such descriptor.
bool finish_by_pmi() {
  const char* const text = std::getenv("PMI_FD");
  if (text == nullptr) {
    return false;
  }
  const int descriptor = std::atoi(text);
  constexpr std::string_view kCommand = "cmd=finalize\n";
  if (write(descriptor, kCommand.data(), kCommand.size()) !=
      static_cast<ssize_t>(kCommand.size())) {
    return false;
  }
  std::array<char, 256> answer{};
  return read(descriptor, answer.data(), answer.size()) > 0;
}
#endif

int finish() {
#ifdef MPICH_NUMVERSION
  // MPI_Finalize waits for acknowledgements from processes that are waiting elsewhere and make no
  // progress: with UCX over TCP, it hangs (openucx/ucx#8738). All our requests are done.
  if (finish_by_pmi()) {
    return 0;
  }
#endif
  return error_of(MPI_Finalize());
}

const char* explain(std::int64_t error) {
  static std::array<char, MPI_MAX_ERROR_STRING> text;
  int length = 0;
  MPI_Error_string(static_cast<int>(-error), text.data(), &length);
  return text.data();
}

}  // namespace
}  // namespace bench

extern "C" const bench::MpiApi* bench_mpi_api() {
  static const bench::MpiApi kApi{.init = bench::init,
                                  .rank = bench::rank,
                                  .size = bench::size,
                                  .library = bench::library,
                                  .send = bench::send,
                                  .receive = bench::receive,
                                  .all_reduce = bench::all_reduce,
                                  .test = bench::test,
                                  .finish = bench::finish,
                                  .explain = bench::explain};
  return &kApi;
}
