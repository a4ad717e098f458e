#include "kernels/cpu/cast.h"

#include "kernels/cpu/element.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/cast.cc"
#include "hwy/foreach_target.h"
#include "kernels/cpu/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bench::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class From, class To>
void cast_line(std::size_t count, const From* x, To* y) {
  sweep(count,
        [&](std::size_t i, auto lanes) HWY_ATTR { store(load(x + i, lanes), y + i, lanes); });
}

void cast_any(const Cast& args) {
  with_element(args.from, [&](auto from) HWY_ATTR {
    with_element(args.to, [&](auto to) HWY_ATTR {
      cast_line(static_cast<std::size_t>(args.count), static_cast<const decltype(from)*>(args.x),
                static_cast<decltype(to)*>(args.y));
    });
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bench::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::cpu {

HWY_EXPORT(cast_any);

void cast(ThreadTeam& team, const Cast& args) {
  team.for_ranges(args.count, kElementGrain, [&](Range range) {
    cast({.count = range.count(),
          .from = args.from,
          .x = element(args.x, args.from, range.begin),
          .to = args.to,
          .y = element(args.y, args.to, range.begin)});
  });
}

void cast(const Cast& args) { HWY_DYNAMIC_DISPATCH(cast_any)(args); }

}  // namespace bench::cpu
#endif  // HWY_ONCE
