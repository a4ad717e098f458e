#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

/// Returns `data` framed as one TFRecord.
std::string frame_tfrecord(std::string_view data);

/// Writes a TFRecord file. The file has a hidden temporary name in the folder of `path` until
/// finish() succeeds, so that no reader sees half a file.
class TfRecordWriter {
 public:
  /// Throws WriteError if the file cannot be created.
  explicit TfRecordWriter(std::string path);
  /// Removes the temporary file unless finish() succeeded.
  ~TfRecordWriter();
  TfRecordWriter(TfRecordWriter&&) = delete;
  TfRecordWriter& operator=(TfRecordWriter&&) = delete;

  /// Appends one record. Throws WriteError.
  void write(std::string_view data);
  /// Flushes to the disk and closes the file, which keeps its temporary name. Throws WriteError.
  /// Nothing but finish() may follow.
  void close();
  /// Renames the file, which it closes before unless close() did. Throws WriteError. Call it once,
  /// last.
  void finish();

 private:
  void flush();

  std::string path_;
  std::string temporary_;
  std::string pending_;
  int file_ = -1;
};

}  // namespace bench
