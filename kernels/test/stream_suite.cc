// Requirements on every backend's memory, streams, events and recordings.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "kernels/test/conformance.h"

namespace bench {
namespace {

constexpr std::size_t kBytes = 64;
using Bytes = std::array<std::byte, kBytes>;

Bytes bytes_of(int value) {
  Bytes bytes{};
  bytes.fill(static_cast<std::byte>(value));
  return bytes;
}

/// A piece of a device's memory and a stream.
struct Place {
  explicit Place(Backend& backend)
      : memory(backend.allocate(kBytes)), stream(backend.make_stream()) {}
  ~Place() { finish(*stream); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  Bytes read() const {
    Bytes bytes{};
    stream->download(memory->data(), bytes);
    stream->synchronize();
    return bytes;
  }

  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<Stream> stream;
};

}  // namespace

TEST_P(StreamConformance, MemoryBeginsWithZeros) { EXPECT_EQ(Place(device()).read(), bytes_of(0)); }

TEST_P(StreamConformance, CopiesInAndOutAndWithinAndFills) {
  Place first(device());
  Place second(device());
  const Bytes from = bytes_of(7);
  first.stream->upload(from, first.memory->data());
  first.stream->copy(first.memory->data(), second.memory->data(), kBytes);
  first.stream->fill(first.memory->data(), std::byte{9}, kBytes / 2);
  Bytes expected = from;
  std::fill_n(expected.begin(), kBytes / 2, std::byte{9});
  EXPECT_EQ(first.read(), expected);
  EXPECT_EQ(second.read(), from);
}

TEST_P(StreamConformance, UrgentStreamsWaitForTheOthersEvents) {
  Place place(device());
  const auto urgent = device().make_urgent_stream();
  const auto filled = device().make_event();
  const auto copied = device().make_event();
  Place other(device());
  place.stream->fill(place.memory->data(), std::byte{5}, kBytes);
  place.stream->record(*filled);
  urgent->wait(*filled);
  urgent->copy(place.memory->data(), other.memory->data(), kBytes);
  urgent->record(*copied);
  place.stream->wait(*copied);
  place.stream->fill(place.memory->data(), std::byte{6}, kBytes);
  place.stream->synchronize();
  EXPECT_EQ(other.read(), bytes_of(5));
}

TEST_P(StreamConformance, ReachesADevicesMemoryButNotTheHosts) {
  const Place place(device());
  const Bytes host{};
  EXPECT_FALSE(device().reaches(host.data()));
  EXPECT_EQ(device().reaches(place.memory->data()), device().name() == "cuda");
}

TEST_P(StreamConformance, CopiesAndFillsNothing) {
  Place place(device());
  place.stream->upload({}, place.memory->data());
  place.stream->download(place.memory->data(), {});
  place.stream->copy(place.memory->data(), place.memory->data(), 0);
  place.stream->fill(place.memory->data(), std::byte{1}, 0);
  EXPECT_EQ(place.read(), bytes_of(0));
}

TEST_P(StreamConformance, AnEventIsDoneOnceEarlierWorkIs) {
  Place place(device());
  const auto event = device().make_event();
  EXPECT_TRUE(event->done());
  Bytes seen{};
  for (const int value : {1, 2}) {
    place.stream->fill(place.memory->data(), static_cast<std::byte>(value), kBytes);
    place.stream->download(place.memory->data(), seen);
    place.stream->record(*event);
    EXPECT_TRUE(event->wait({}));
    EXPECT_TRUE(event->done());
    EXPECT_EQ(seen, bytes_of(value));
  }
}

TEST_P(StreamConformance, EventsMeasureTheTimeBetweenThem) {
  Place place(device());
  const auto before = device().make_event();
  const auto after = device().make_event();
  const auto begin = std::chrono::steady_clock::now();
  constexpr std::size_t kMany = std::size_t{1}
                                << 20;  // to fill takes longer than to look at a clock
  const auto memory = device().allocate(kMany);
  place.stream->record(*before);
  place.stream->fill(memory->data(), std::byte{1}, kMany);
  place.stream->record(*after);
  place.stream->synchronize();
  const auto whole = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(before->since(*before), std::chrono::nanoseconds(0));
  EXPECT_GT(after->since(*before), std::chrono::nanoseconds(0));
  EXPECT_LE(after->since(*before), whole);
}

TEST_P(StreamConformance, AStreamWaitsForAnothersEvent) {
  // Whichever of the two is the older one.
  for (const bool swapped : {false, true}) {
    Place first(device());
    Place second(device());
    Place& filler = swapped ? second : first;
    Place& reader = swapped ? first : second;
    const auto filled = device().make_event();
    const auto read = device().make_event();
    Bytes seen{};
    for (const int value : {1, 2, 3}) {
      filler.stream->wait(*read);
      filler.stream->fill(filler.memory->data(), static_cast<std::byte>(value), kBytes);
      filler.stream->record(*filled);
      reader.stream->wait(*filled);
      reader.stream->download(filler.memory->data(), seen);
      reader.stream->record(*read);
      reader.stream->synchronize();
      EXPECT_EQ(seen, bytes_of(value));
    }
  }
}

TEST_P(StreamConformance, ReplaysACaptureWithTheCurrentContents) {
  Place place(device());
  const auto staging = device().allocate_staging(2 * kBytes);
  const std::span from(staging->data(), kBytes);
  const std::span to(staging->data() + kBytes, kBytes);
  const auto recording = place.stream->capture([&] {
    place.stream->upload(from, place.memory->data());
    place.stream->fill(place.memory->data(), std::byte{0}, 1);
    place.stream->download(place.memory->data(), to);
  });
  place.stream->synchronize();
  for (const int value : {2, 3}) {
    std::ranges::fill(from, static_cast<std::byte>(value));
    place.stream->replay(*recording);
    place.stream->synchronize();
    Bytes expected = bytes_of(value);
    expected[0] = std::byte{0};
    EXPECT_TRUE(std::ranges::equal(to, expected)) << value;
  }
}

}  // namespace bench
