#include "results/record/input_json.h"

#include "results/record/conditions_json.h"

namespace bench::results {
namespace {

void put_threads(Section out, const ThreadSeconds& times) {
  out.put("work", times.work);
  out.put("processor", times.processor);
  out.put("delayed", times.delayed);
  out.put("waited", times.waited);
}

}  // namespace

void put_dataset(Section out, const Dataset& dataset) {
  out.put("name", dataset.name);
  out.put("image_type", dataset.image_type);
  out.put("image_bytes", dataset.image_bytes);
  out.put("shards", dataset.shards);
  out.put("records", dataset.records);
  out.put("bytes", dataset.bytes);
  put_storage(out, dataset.storage);
}

void put_input(Section out, const Input& input) {
  out.put("threads", input.threads);
  out.put("images", input.images);
  out.put("bytes", input.bytes);
  out.put("storage_bytes", input.storage_bytes);
  out.put("readers", input.readers);
  out.put("seekable", input.seekable);
  Section bad = out.child("bad_records");
  bad.put("file", input.bad_records.file);
  bad.put("checksum", input.bad_records.checksum);
  bad.put("fields", input.bad_records.fields);
  bad.put("label", input.bad_records.label);
  bad.put("image", input.bad_records.image);
  put_threads(out.child("reading"), input.reading);
  put_threads(out.child("preparing"), input.preparing);
  out.put("parse", input.parse);
  out.put("decode", input.decode);
  out.put("resize", input.resize);
  out.put("bound", input.bound);
  out.put("device_images_per_sec", input.device_images_per_sec);
  out.put("input_images_per_sec", input.input_images_per_sec);
}

}  // namespace bench::results
