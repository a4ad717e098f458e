#include <array>

#include "pipeline/input.h"

namespace bench {
namespace {

ThreadTimes difference(const ThreadTimes& after, const ThreadTimes& before) {
  return {.work = after.work - before.work,
          .processor = after.processor - before.processor,
          .delayed = after.delayed - before.delayed,
          .waited = after.waited - before.waited};
}

}  // namespace

std::string_view name_of(InputStage stage) {
  constexpr std::array<std::string_view, 4> kNames = {"read", "parse", "decode", "resize"};
  return kNames.at(static_cast<std::size_t>(stage));
}

ThreadTimes& ThreadTimes::operator+=(const ThreadTimes& other) {
  work += other.work;
  processor += other.processor;
  delayed += other.delayed;
  waited += other.waited;
  return *this;
}

double InputStatistics::seekable_share() const {
  return images_prepared > 0
             ? static_cast<double>(seekable_images) / static_cast<double>(images_prepared)
             : 0;
}

InputStatistics InputStatistics::since(const InputStatistics& before) const {
  InputStatistics done = *this;
  done.images_delivered -= before.images_delivered;
  done.images_prepared -= before.images_prepared;
  done.consumer_wait -= before.consumer_wait;
  done.parse_busy -= before.parse_busy;
  done.decode_busy -= before.decode_busy;
  done.resize_busy -= before.resize_busy;
  done.reading = difference(reading, before.reading);
  done.readers_work = difference(readers_work, before.readers_work);
  done.preparing = difference(preparing, before.preparing);
  done.process -= before.process;
  done.record_bytes -= before.record_bytes;
  if (storage_bytes && before.storage_bytes) {
    done.storage_bytes = *storage_bytes - *before.storage_bytes;
  }
  done.jpeg_warnings -= before.jpeg_warnings;
  done.seekable_images -= before.seekable_images;
  done.grey_images -= before.grey_images;
  done.cmyk_images -= before.cmyk_images;
  return done;
}

}  // namespace bench
