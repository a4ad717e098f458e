#include "results/record/json_writer.h"

#include <utility>

#include "models/base/atomic_file.h"
#include "results/record/record_json.h"

namespace bench::results {
namespace {

class JsonWriter : public RecordWriter {
 public:
  explicit JsonWriter(AtomicFile file) : file_(std::move(file)) {}
  void write(const Record& record) override { file_.write(record_json(record)); }
  [[nodiscard]] bool replaces() const override { return file_.replaces(); }

 private:
  AtomicFile file_;
};

}  // namespace

std::unique_ptr<RecordWriter> make_json_writer(const std::filesystem::path& path) {
  return std::make_unique<JsonWriter>(AtomicFile(path));
}

}  // namespace bench::results
