#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <sstream>

#include "models/base/errors.h"
#include "pipeline/formats/example_scanner.h"
#include "pipeline/formats/example_writer.h"
#include "pipeline/formats/jpeg_rewriter.h"
#include "pipeline/formats/tfrecord_reader.h"
#include "pipeline/input.h"
#include "pipeline/test/support.h"
#include "tools/make_tfrecords_src/run.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using ::testing::HasSubstr;

struct Result {
  int status = 0;
  std::string out;
  std::string err;
};

Result run(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int status = make_tfrecords(arguments, out, err);
  return {.status = status, .out = out.str(), .err = err.str()};
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// `cats` (12 images), `dogs` (8, one of them deeper), and a folder without images.
void draw_class_folders(const TemporaryFolder& folder) {
  fs::create_directories(folder.path() / "cats");
  fs::create_directories(folder.path() / "dogs" / "deeper");
  fs::create_directories(folder.path() / "empty");
  for (int i = 0; i < 20; ++i) {
    const test::Picture picture{
        .width = 20 + i, .height = 30, .seed = static_cast<std::uint64_t>(i)};
    const std::string name = i < 12   ? fmt::format("cats/{}.jpg", i)
                             : i < 19 ? fmt::format("dogs/{}.JPEG", i)
                                      : "dogs/deeper/19.jpeg";
    test::write_file(folder.file(name), test::wavy_jpeg(picture));
  }
  test::write_file(folder.file("cats/notes.txt"), "no image");
}

TEST(MakeTfrecords, TurnsClassFoldersIntoShardsThatThePipelineReads) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  draw_class_folders(source);
  const Result result = run({"--output_dir=" + output.path().string(), "--shards=3",
                             "--validation_fraction=0.25", source.path()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("15 training and 5 validation images of 2 classes"));
  EXPECT_THAT(result.err, HasSubstr("20 of 20 images"));
  EXPECT_EQ(names_in(output.path()),
            (std::vector<std::string>{"labels.txt", "train-00000-of-00003", "train-00001-of-00003",
                                      "train-00002-of-00003", "validation-00000-of-00001"}));
  EXPECT_EQ(test::read_file(output.file("labels.txt")), "1\tcats\n2\tdogs\n");

  const InputSpec spec{.batch = 15, .height = 8, .width = 8, .num_classes = 3, .seed = 1};
  const auto input = make_imagenet_input(spec, {.data_dir = output.path(), .num_threads = 2});
  const InputBatch batch = input->next();
  EXPECT_EQ(std::count(batch.labels, batch.labels + 15, 1), 9);
  EXPECT_EQ(std::count(batch.labels, batch.labels + 15, 2), 6);
}

TEST(MakeTfrecords, WarnsOfWhatItSkips) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  draw_class_folders(source);
  test::write_file(source.file("empty/a.png"), "no JPEG");
  test::write_file(source.file("loose.JPG"), "no class");
  const Result result = run({"--output_dir=" + output.path().string(), source.path()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("': skipped 1 JPEG outside class folders"));
  EXPECT_THAT(result.err, HasSubstr("/cats': skipped 1 file that is not JPEG (.jpg, .jpeg)"));
  EXPECT_THAT(result.err,
              HasSubstr("/empty' contains no JPEGs (.jpg, .jpeg), so it is not a class"));
  EXPECT_THAT(result.err, HasSubstr("images of 2 classes"));
}

TEST(MakeTfrecords, WritesImagenetsFeatures) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  draw_class_folders(source);
  ASSERT_EQ(run({"--output_dir=" + output.path().string(), "--shards=1", source.path()}).status, 0);
  ExampleScanner scanner({"image/encoded", "image/class/label", "image/class/text", "image/height",
                          "image/width", "image/filename", "image/format",
                          "image/object/bbox/xmin"});
  TfRecordReader reader(output.file("train-00000-of-00001"));
  std::set<std::string> files;
  while (const auto record = reader.next()) {
    scanner.scan(record->data);
    const std::string file(scanner.feature(5).bytes.at(0));
    files.insert(file);
    const std::int64_t label = scanner.feature(1).ints.at(0);
    EXPECT_EQ(scanner.feature(2).bytes.at(0), label == 1 ? "cats" : "dogs");
    EXPECT_EQ(scanner.feature(3).ints.at(0), 30);
    EXPECT_EQ(scanner.feature(4).ints.at(0), 20 + std::stoi(file));
    EXPECT_EQ(label, std::stoi(file) < 12 ? 1 : 2);
    EXPECT_EQ(scanner.feature(6).bytes.at(0), "JPEG");
    EXPECT_EQ(scanner.feature(7).kind, FeatureView::Kind::none);
    const std::string folder =
        label == 2 ? (file == "19.jpeg" ? "dogs/deeper/" : "dogs/") : "cats/";
    EXPECT_EQ(scanner.feature(0).bytes.at(0), test::read_file(source.file(folder + file)));
  }
  EXPECT_EQ(files.size(), 18U) << "a tenth of each class is for validation";
}

TEST(MakeTfrecords, TurnsIdxFilesIntoGreyJpegs) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  const auto write_subset = [&](const std::string& name, int count) {
    const char n = static_cast<char>(count);
    std::string images("\0\0\x08\x03\0\0\0\0\0\0\0\x1c\0\0\0\x1c", 16);
    std::string labels("\0\0\x08\x01\0\0\0\0", 8);
    images[7] = labels[7] = n;
    for (int i = 0; i < count; ++i) {
      images += std::string(28 * 28, static_cast<char>(20 * (i % 10)));
      labels += static_cast<char>(i % 10);
    }
    test::write_file(source.file(name + "-images-idx3-ubyte"), images);
    test::write_file(source.file(name + "-labels-idx1-ubyte"), labels);
  };
  write_subset("train", 30);
  write_subset("t10k", 10);
  const Result result = run({"--output_dir=" + output.path().string(), source.path()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(names_in(output.path()).size(), 8U + 2U + 1U);

  const InputSpec spec{.batch = 30, .height = 28, .width = 28, .num_classes = 11, .seed = 1};
  const auto input = make_imagenet_input(
      spec, {.data_dir = output.path(), .resize_method = ResizeMethod::crop, .num_threads = 2});
  const InputBatch batch = input->next();
  for (int i = 0; i < 30; ++i) {
    const float grey = (batch.images[i * 3 * 28 * 28 + 400] + 1) * 127.5F;
    EXPECT_NEAR(grey, 20 * (batch.labels[i] - 1), 1.5);
  }
}

TEST(MakeTfrecords, RefusesANonEmptyFolderByDefault) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  draw_class_folders(source);
  const std::string flag = "--output_dir=" + output.path().string();
  ASSERT_EQ(run({flag, "--shards=5", source.path()}).status, 0);
  const Result refused = run({flag, "--shards=2", source.path()});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("the folder is not empty"));
  EXPECT_EQ(names_in(output.path()).size(), 5U + 1U + 1U);
  EXPECT_EQ(run({flag, "--shards=2", "--overwrite", source.path()}).status, 0);
  EXPECT_EQ(names_in(output.path()).size(), 2U + 1U + 1U) << "no shard of the first run is left";
}

/// The images of one pass over the training shards, with labels.
struct Images {
  std::vector<float> pixels;
  std::vector<std::int32_t> labels;
  std::int64_t seekable = 0;
};

Images images_of(const TemporaryFolder& folder, int threads) {
  const InputSpec spec{.batch = 18, .height = 24, .width = 24, .num_classes = 3, .seed = 1};
  const auto input = make_imagenet_input(spec, {.data_dir = folder.path(), .num_threads = threads});
  const InputBatch batch = input->next();
  return {.pixels = {batch.images, batch.images + 18 * 3 * 24 * 24},
          .labels = {batch.labels, batch.labels + 18},
          .seekable = input->statistics().seekable_images};
}

TEST(MakeTfrecords, RewritesShardsAsSeekableOnesWithTheSameImages) {
  const TemporaryFolder source;
  const TemporaryFolder plain;
  const TemporaryFolder rewritten;
  const TemporaryFolder direct;
  draw_class_folders(source);
  ASSERT_EQ(run({"--output_dir=" + plain.path().string(), "--shards=2", source.path()}).status, 0);
  const Result result = run({"--output_dir=" + rewritten.path().string(), "--seekable",
                             "--from_tfrecords=" + plain.path().string()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("3 of 3 shards\n20 of 20 images are seekable\n"));
  EXPECT_EQ(names_in(rewritten.path()), names_in(plain.path()));
  EXPECT_EQ(test::read_file(rewritten.file("labels.txt")),
            test::read_file(plain.file("labels.txt")));
  ASSERT_EQ(
      run({"--output_dir=" + direct.path().string(), "--shards=2", "--seekable", source.path()})
          .status,
      0);
  const Images expected = images_of(plain, 2);
  EXPECT_EQ(expected.seekable, 0);
  for (const TemporaryFolder* folder : {&rewritten, &direct}) {
    for (const int threads : {1, 2, 8}) {
      const Images images = images_of(*folder, threads);
      EXPECT_EQ(images.labels, expected.labels);
      EXPECT_EQ(images.pixels, expected.pixels) << threads << " threads";
      EXPECT_GE(images.seekable, 9);
    }
  }
}

TEST(MakeTfrecords, RefusesToRewriteTwoShardsIntoOneFile) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  test::write_shards(source, {.shards = 1}, {test::image_example(test::wavy_jpeg({}), 1)});
  const std::string shard = source.file("train-00000-of-00001");
  std::filesystem::copy_file(shard, shard + ".gz");
  const Result result = run({"--from_tfrecords=" + source.path().string(),
                             "--output_dir=" + output.path().string(), "--seekable"});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err,
              HasSubstr(shard + " and " + shard + ".gz would be written to the same file"));
  EXPECT_TRUE(names_in(output.path()).empty());
}

TEST(MakeTfrecords, KeepsTheOtherFeaturesOfRewrittenRecords) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  const std::string jpeg = test::wavy_jpeg({.width = 40, .height = 30});
  const std::string example = ExampleWriter()
                                  .bytes("image/class/text", "a cat")
                                  .bytes("image/encoded", jpeg)
                                  .floats("image/object/bbox/xmin", std::array{0.25F})
                                  .integer("image/class/label", 7)
                                  .serialize();
  const std::string from = "--from_tfrecords=" + source.path().string();
  const std::string to = "--output_dir=" + output.path().string();
  const std::string grey = test::wavy_jpeg({.components = 1});
  test::write_shards(
      source, {.shards = 1},
      {example, test::image_example(grey, 1), test::image_example(jpeg.substr(0, 500), 1)});
  const Result result = run({from, to, "--seekable"});
  EXPECT_THAT(result.err, HasSubstr("1 of 3 images are seekable; the others are copied: grey"));
  TfRecordReader reader(output.file("train-00000-of-00001"));
  ExampleScanner scanner(
      {"image/encoded", "image/class/text", "image/object/bbox/xmin", "image/class/label"});
  scanner.scan(reader.next()->data);
  EXPECT_EQ(scanner.feature(0).bytes.at(0), rewrite_seekable(jpeg));
  EXPECT_EQ(scanner.feature(1).bytes.at(0), "a cat");
  EXPECT_EQ(scanner.feature(2).floats.at(0), 0.25F);
  EXPECT_EQ(scanner.feature(3).ints.at(0), 7);
  scanner.scan(reader.next()->data);
  EXPECT_EQ(scanner.feature(0).bytes.at(0), grey);
}

TEST(MakeTfrecords, RewritesAllShardsOrNone) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  const std::string good = test::image_example(test::wavy_jpeg({}), 1);
  const auto rewrite = [&] {
    return run({"--from_tfrecords=" + source.path().string(),
                "--output_dir=" + output.path().string(), "--seekable", "--overwrite"});
  };
  test::write_shards(source, {.shards = 4}, {good, good, good, good});
  test::write_file(source.file("labels.txt"), "1\ta\n");
  EXPECT_EQ(rewrite().status, 0);
  const std::vector<std::string> four = names_in(output.path());
  EXPECT_EQ(four.size(), 5U);

  test::write_shards(source, {.shards = 4}, {good, good, good, "no Example"});
  const Result failed = rewrite();
  EXPECT_EQ(failed.status, 2);
  EXPECT_THAT(failed.err, HasSubstr("train-00003-of-00004: the record at byte 0: "));
  EXPECT_EQ(names_in(output.path()), four) << "nothing has changed";

  for (const std::string& name : names_in(source.path())) fs::remove(source.file(name));
  test::write_shards(source, {.shards = 2}, {good, good});
  EXPECT_EQ(rewrite().status, 0);
  EXPECT_EQ(names_in(output.path()).size(), 2U) << "the shards and labels of before are removed";
}

TEST(MakeTfrecords, LeavesNothingIfItIsInterrupted) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  draw_class_folders(source);
  std::ostringstream out;
  std::ostringstream err;
  int left = 10;
  const std::vector<std::string> words{"--output_dir=" + output.path().string(), source.path()};
  EXPECT_EQ(make_tfrecords(words, out, err, [&] { return --left < 0; }), kInterruptedStatus);
  EXPECT_THAT(err.str(), HasSubstr("make_tfrecords: interrupted; incomplete files are removed"));
  EXPECT_TRUE(fs::is_empty(output.path()));
}

TEST(MakeTfrecords, RemovesWhatAKilledRunLeft) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  draw_class_folders(source);
  const pid_t ended = fork();
  if (ended == 0) _exit(0);
  waitpid(ended, nullptr, 0);
  const std::string abandoned = fmt::format(".train-00000-of-00008.{}", ended);
  test::write_file(output.file(abandoned), "half a shard");
  ASSERT_EQ(run({"--output_dir=" + output.path().string(), source.path()}).status, 0);
  EXPECT_FALSE(fs::exists(output.file(abandoned)));
}

TEST(MakeTfrecords, RefusesOptionsThatConflictWithFromTfrecords) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  const std::string from = "--from_tfrecords=" + source.path().string();
  const std::string to = "--output_dir=" + output.path().string();
  const auto refusal = [](const std::vector<std::string>& words) {
    const Result result = run(words);
    EXPECT_EQ(result.status, 2);
    return result.err;
  };
  EXPECT_THAT(refusal({from, to}), HasSubstr("--from_tfrecords needs --seekable and"));
  EXPECT_THAT(refusal({from, to, "--index_dir=x"}), HasSubstr("--index_dir alone"));
  EXPECT_THAT(refusal({from, "--index_dir="}), HasSubstr("--index_dir is empty"));
  EXPECT_THAT(refusal({from, "--index_dir=x", "--overwrite"}),
              HasSubstr("--overwrite has no effect"));
  EXPECT_THAT(refusal({from, "--seekable"}), HasSubstr("--output_dir is missing"));
  EXPECT_THAT(refusal({from, to, "--seekable"}), HasSubstr("no train-*-of-*"));
  EXPECT_THAT(refusal({from, to, "--seekable", "photos"}), HasSubstr("omit 'photos'"));
  EXPECT_THAT(refusal({from, to, "--seekable", "--shards=3"}), HasSubstr("omit --shards"));
  EXPECT_THAT(refusal({"--from_tfrecords=", to, "--seekable"}), HasSubstr("is empty"));
  EXPECT_THAT(refusal({"--from_tfrecords=missing", to, "--seekable"}),
              HasSubstr("No such file or directory"));
  test::write_shards(source, {}, {test::image_example(test::wavy_jpeg({}), 1)});
  EXPECT_THAT(refusal({from, "--output_dir=" + source.path().string(), "--seekable"}),
              HasSubstr("are the same folder"));
}

TEST(MakeTfrecords, MakesIndexesOfNewAndOldShards) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  const TemporaryFolder indexes;
  draw_class_folders(source);
  const std::string made = indexes.file("made");
  const Result result = run({"--output_dir=" + output.path().string(), "--shards=3",
                             "--index_dir=" + made, source.path()});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("wrote 4 indexes (20 records) to " + made));
  const std::string again = indexes.file("again");
  ASSERT_EQ(run({"--from_tfrecords=" + output.path().string(), "--index_dir=" + again}).status, 0);
  EXPECT_EQ(names_in(made), (std::vector<std::string>{
                                "train-00000-of-00003.idx", "train-00001-of-00003.idx",
                                "train-00002-of-00003.idx", "validation-00000-of-00001.idx"}));
  for (const std::string& name : names_in(made)) {
    const std::string text = test::read_file(made + "/" + name);
    EXPECT_TRUE(text.starts_with("0 ")) << text;
    EXPECT_EQ(test::read_file(again + "/" + name), text);
  }
  test::write_file(output.file("train-00001-of-00003"), "no records");
  EXPECT_EQ(run({"--from_tfrecords=" + output.path().string(), "--index_dir=" + again}).status, 2);
}

TEST(MakeTfrecords, IsReproducible) {
  const TemporaryFolder source;
  const TemporaryFolder a;
  const TemporaryFolder b;
  draw_class_folders(source);
  ASSERT_EQ(run({"--output_dir=" + a.path().string(), source.path()}).status, 0);
  ASSERT_EQ(run({"--output_dir=" + b.path().string(), source.path()}).status, 0);
  for (const std::string& name : names_in(a.path())) {
    EXPECT_EQ(test::read_file(a.file(name)), test::read_file(b.file(name))) << name;
  }
}

TEST(MakeTfrecords, StopsAtANonJpegImageAndLeavesNothing) {
  const TemporaryFolder source;
  const TemporaryFolder output;
  draw_class_folders(source);
  test::write_file(source.file("cats/5.jpg"), "\x89PNG\r\n\x1a\n");
  const Result result =
      run({"--output_dir=" + output.path().string(), "--shards=2", source.path()});
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.err, HasSubstr("5.jpg (class cats): the image is not a JPEG: it is a PNG"));
  EXPECT_TRUE(fs::is_empty(output.path()));
}

TEST(MakeTfrecords, ExitsWith2ForWrongUseAnd74ForAFailedWrite) {
  const TemporaryFolder source;
  draw_class_folders(source);
  const std::string folder = source.path();
  const std::string output = "--output_dir=" + source.file("output");
  EXPECT_EQ(run({}).status, 2);
  EXPECT_EQ(run({output, "--shard=3", folder}).status, 2);
  EXPECT_EQ(run({output, "--shards=0", folder}).status, 2);
  EXPECT_EQ(run({output, "--overwrite=yes", folder}).status, 2);
  EXPECT_EQ(run({output, "--shards=many", folder}).status, 2);
  EXPECT_EQ(run({output, "--shards=501", folder}).err,
            "make_tfrecords: --shards=501: not an integer from 1 to 500\n");
  EXPECT_EQ(run({output, "--shards=100", folder}).status, 2);
  EXPECT_EQ(run({output, "--validation_fraction=nan", folder}).status, 2);
  EXPECT_EQ(run({output, folder, "another"}).status, 2);
  EXPECT_EQ(run({output, source.file("absent")}).status, 2);
  EXPECT_EQ(run({output, source.file("empty")}).status, 2);
  test::write_file(source.file("file"), "");
  EXPECT_EQ(run({"--output_dir=" + source.file("file") + "/below", folder}).status, 74);
  const Result help = run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, HasSubstr("--output_dir"));
}

}  // namespace
}  // namespace bench
