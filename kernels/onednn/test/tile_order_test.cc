#include "kernels/onednn/tile_order.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace bench::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc desc(const memory::dims& dims, Tag tag, memory::data_type type) {
  return {dims, type, tag};
}

/// The result of oneDNN's reorder of a tensor, padding included.
template <class To, class From>
std::vector<To> reordered(const memory::desc& from, std::vector<From>& tensor,
                          const memory::desc& to) {
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::stream stream(engine);
  memory source(from, engine, tensor.data());
  std::vector<To> result(to.get_size() / sizeof(To));
  memory target(to, engine, result.data());
  dnnl::reorder(source, target).execute(stream, source, target);
  stream.wait();
  return result;
}

std::uint16_t bfloat16(float number) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16U);
}

Tag plain_tag(const memory::dims& dims) {
  return dims.size() == 2 ? Tag::ab : dims.size() == 4 ? Tag::abcd : Tag::abcde;
}

struct Pair {
  memory::dims dims;
  Tag from;
  Tag to;
};

TEST(TileOrder, IsThatOfOnednnsReorders) {
  const std::vector<Pair> pairs{{{32, 48, 3, 3}, Tag::ABcd16b16a, Tag::ABcd8b16a2b},
                                {{32, 48, 3, 3}, Tag::ABcd16b16a, Tag::ABcd8a16b2a},
                                {{64, 32, 1, 1}, Tag::ABcd16b16a, Tag::BAcd8a16b2a},
                                {{64, 32, 1, 1}, Tag::ABcd16b16a, Tag::ABcd16b16a},
                                {{48, 16, 5, 5}, Tag::Acdb16a, Tag::Acdb16a},
                                {{48, 40, 1, 1}, Tag::abcd, Tag::acdb},
                                {{48, 32, 1, 1}, Tag::ABcd16b16a, Tag::AcdB16a2b},
                                {{128, 48, 1, 1}, Tag::ABcd16b16a, Tag::AcdB64a2b},
                                {{96, 32, 1, 1}, Tag::ABcd16b16a, Tag::AcdB48a2b},
                                {{96, 32, 3, 3}, Tag::ABcd16b16a, Tag::AcdB32a2b},
                                {{2, 32, 48, 3, 3}, Tag::aBCde16c16b, Tag::aBCde8c16b2c},
                                {{128, 64}, Tag::AB16b64a, Tag::AB8b64a2b},
                                {{70, 50}, Tag::AB16b16a, Tag::BA16a16b}};
  for (const auto& [dims, from_tag, to_tag] : pairs) {
    const memory::desc from = desc(dims, from_tag, memory::data_type::f32);
    const memory::desc to = desc(dims, to_tag, memory::data_type::bf16);
    const auto order = tile_order(from, to);
    ASSERT_TRUE(order.has_value());
    const memory::desc plain(dims, memory::data_type::f32, plain_tag(dims));
    // Whole numbers, which bf16 represents exactly.
    std::vector<float> canonical(plain.get_size() / sizeof(float));
    for (std::size_t i = 0; i < canonical.size(); ++i) {
      canonical[i] = static_cast<float>(i * 37 % 251);
    }
    std::vector<float> variable = reordered<float>(plain, canonical, from);
    const auto expected = reordered<std::uint16_t>(from, variable, to);
    std::vector<std::uint16_t> actual(expected.size(), 0x7FC0);
    const std::size_t tile = order->same() ? variable.size() : order->elements.size();
    for (std::size_t i = 0; i < variable.size(); ++i) {
      const std::size_t begin = i / tile * tile;
      const std::size_t read = order->same() ? i : begin + order->elements[i - begin];
      const std::size_t written = order->same() ? i : order->tiles[i / tile] * tile + (i - begin);
      actual[written] = bfloat16(variable[read]);
    }
    EXPECT_TRUE(actual == expected) << "to tag " << static_cast<int>(to_tag);
  }
}

TEST(TileOrder, IsAbsentIfTheTilesDiffer) {
  const auto order = [](const memory::dims& dims, Tag from, Tag to) {
    return tile_order(desc(dims, from, memory::data_type::f32),
                      desc(dims, to, memory::data_type::bf16));
  };
  EXPECT_FALSE(order({32, 32, 3, 3}, Tag::abcd, Tag::acdb));
  EXPECT_FALSE(order({32, 32, 3, 3}, Tag::ABcd16b16a, Tag::ABcd8b8a));
  EXPECT_FALSE(order({32, 32, 3, 3}, Tag::abcd, Tag::ABcd8b16a2b));
  // Elements that are together in one layout are scattered in the other.
  EXPECT_FALSE(order({32, 96, 1, 1}, Tag::ABcd16b16a, Tag::BcdA48b2a));
  // Padded along another axis.
  EXPECT_FALSE(order({64, 3, 7, 7}, Tag::Acdb16a, Tag::AcdB16a2b));
}

}  // namespace
}  // namespace bench::onednn
