#include "pipeline/formats/pickle_reader.h"

#include <cstring>
#include <map>

#include "models/base/errors.h"

namespace bench {
namespace {

using Ptr = PickleValue::Ptr;

/// Bounds the memory that a damaged file can use. A batch of CIFAR-10 has some 20,000.
constexpr int kMostOperations = 1 << 20;
constexpr std::size_t kLongestName = 200;
/// Begins a pickle; its protocol follows.
constexpr char kProtocolMark = '\x80';

/// The machine that a pickle programs: a stack and a memo.
class Machine {
 public:
  Machine(std::string_view pickle, std::deque<PickleValue>& values)
      : pickle_(pickle), values_(values) {}

  Ptr run() {
    check_protocol();
    for (int i = 0; i < kMostOperations; ++i) {
      const char opcode = take(1).front();
      if (opcode == '.') {
        return pop();
      }
      execute(opcode);
    }
    fail(fmt::format("the pickle has more than {} operations", kMostOperations));
  }

 private:
  void check_protocol() const {
    if (pickle_.empty()) {
      throw DataError("the file is empty");
    }
    if (pickle_.size() < 2 || pickle_.front() != kProtocolMark) {
      throw DataError("this is not a pickle of protocol 2 or later");
    }
    if (const int protocol = static_cast<unsigned char>(pickle_[1]); protocol < 2 || protocol > 4) {
      throw DataError(fmt::format(
          "the pickle has protocol {}; bench reads 2 to 4, so save it with protocol 4", protocol));
    }
  }

  template <class T>
  Ptr value_of(T data) {
    values_.push_back({.data = std::move(data)});
    return &values_.back();
  }

  [[noreturn]] void fail(std::string_view reason) const {
    throw DataError(fmt::format("offset {}: {}", position_, reason));
  }

  std::string_view take(std::size_t bytes) {
    if (bytes > pickle_.size() - position_) {
      fail("the pickle is truncated");
    }
    const std::string_view taken = pickle_.substr(position_, bytes);
    position_ += bytes;
    return taken;
  }
  /// A little-endian number without sign.
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(bytes).data(), bytes);
    return value;
  }
  std::string_view line() {
    const std::size_t end = pickle_.find('\n', position_);
    if (end == std::string_view::npos) {
      fail("the pickle is truncated");
    }
    const std::string_view text = take(end - position_);
    take(1);
    return text;
  }

  Ptr object_named(std::string_view module, std::string_view name) {
    if (module.size() + name.size() > kLongestName) {
      fail("the pickle is damaged: a name is too long");
    }
    return value_of(PickleValue::Object{.global = fmt::format("{}.{}", module, name)});
  }

  void push(Ptr value) { stack_.push_back(value); }
  Ptr pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() == marks_.back())) {
      fail("the pickle is damaged: a value is missing");
    }
    const Ptr value = stack_.back();
    stack_.pop_back();
    return value;
  }
  PickleValue::Sequence pop_to_mark() {
    if (marks_.empty()) {
      fail("the pickle is damaged: a mark is missing");
    }
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    PickleValue::Sequence values(first, stack_.end());
    stack_.erase(first, stack_.end());
    marks_.pop_back();
    return values;
  }
  template <class T>
  T& top_as() {
    T* const data = stack_.empty() ? nullptr : std::get_if<T>(&stack_.back()->data);
    if (data == nullptr) {
      fail("the pickle is damaged: a value has an unexpected type");
    }
    return *data;
  }
  void push_tuple(std::size_t size) {
    PickleValue::Sequence values(size);
    for (std::size_t i = size; i > 0; --i) {
      values[i - 1] = pop();
    }
    push(value_of(std::move(values)));
  }
  void memoize(std::uint64_t place) {
    if (stack_.empty()) {
      fail("the pickle is damaged: a value is missing");
    }
    memo_[place] = stack_.back();
  }
  void recall(std::uint64_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) {
      fail("the pickle is damaged: it refers to a value that it does not have");
    }
    push(found->second);
  }
  void set_items(const PickleValue::Sequence& items) {
    if (items.size() % 2 != 0) {
      fail("the pickle is damaged: a key has no value");
    }
    auto& dictionary = top_as<PickleValue::Dictionary>();
    for (std::size_t i = 0; i < items.size(); i += 2) {
      dictionary.emplace_back(items[i], items[i + 1]);
    }
  }
  void execute(char opcode);

  std::string_view pickle_;
  std::deque<PickleValue>& values_;
  std::size_t position_ = 0;
  std::vector<Ptr> stack_;
  /// The sizes of the stack at the marks.
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, Ptr> memo_;
};

void Machine::execute(char opcode) {
  switch (opcode) {
    case kProtocolMark:
      take(1);
      break;
    case '\x95':  // FRAME
      take(8);
      break;
    case '(':  // MARK
      marks_.push_back(stack_.size());
      break;
    case '0':  // POP
      pop();
      break;
    case 'N':  // NONE
      push(value_of(std::monostate()));
      break;
    case '\x88':  // NEWTRUE
    case '\x89':  // NEWFALSE
      push(value_of(std::int64_t{opcode == '\x88'}));
      break;
    case 'K':  // BININT1
      push(value_of(static_cast<std::int64_t>(number(1))));
      break;
    case 'M':  // BININT2
      push(value_of(static_cast<std::int64_t>(number(2))));
      break;
    case 'J':  // BININT, with a sign
      push(value_of(std::int64_t{static_cast<std::int32_t>(number(4))}));
      break;
    case 'U':     // SHORT_BINSTRING
    case 'C':     // SHORT_BINBYTES
    case '\x8c':  // SHORT_BINUNICODE
      push(value_of(take(number(1))));
      break;
    case 'T':  // BINSTRING
    case 'B':  // BINBYTES
    case 'X':  // BINUNICODE
      push(value_of(take(number(4))));
      break;
    case '\x8e':  // BINBYTES8
    case '\x8d':  // BINUNICODE8
      push(value_of(take(number(8))));
      break;
    case ')':  // EMPTY_TUPLE
    case ']':  // EMPTY_LIST
      push(value_of(PickleValue::Sequence()));
      break;
    case '}':  // EMPTY_DICT
      push(value_of(PickleValue::Dictionary()));
      break;
    case 't':  // TUPLE
      push(value_of(pop_to_mark()));
      break;
    case '\x85':  // TUPLE1
      push_tuple(1);
      break;
    case '\x86':  // TUPLE2
      push_tuple(2);
      break;
    case '\x87':  // TUPLE3
      push_tuple(3);
      break;
    case 'a': {  // APPEND
      const Ptr value = pop();
      top_as<PickleValue::Sequence>().push_back(value);
      break;
    }
    case 'e': {  // APPENDS
      const PickleValue::Sequence values = pop_to_mark();
      auto& list = top_as<PickleValue::Sequence>();
      list.insert(list.end(), values.begin(), values.end());
      break;
    }
    case 's': {  // SETITEM
      PickleValue::Sequence item(2);
      item[1] = pop();
      item[0] = pop();
      set_items(item);
      break;
    }
    case 'u':  // SETITEMS
      set_items(pop_to_mark());
      break;
    case 'c': {  // GLOBAL
      const std::string_view module = line();
      push(object_named(module, line()));
      break;
    }
    case '\x93': {  // STACK_GLOBAL
      const Ptr name = pop();
      const Ptr module = pop();
      if (name->text() == nullptr || module->text() == nullptr) {
        fail("the pickle is damaged: a value has an unexpected type");
      }
      push(object_named(*module->text(), *name->text()));
      break;
    }
    case 'R': {  // REDUCE: not called, only noted
      const Ptr arguments = pop();
      const Ptr function = pop();
      if (function->object() == nullptr) {
        fail("the pickle is damaged: a value has an unexpected type");
      }
      push(value_of(
          PickleValue::Object{.global = function->object()->global, .arguments = arguments}));
      break;
    }
    case 'b': {  // BUILD
      const Ptr state = pop();
      top_as<PickleValue::Object>().state = state;
      break;
    }
    case 'q':  // BINPUT
      memoize(number(1));
      break;
    case 'r':  // LONG_BINPUT
      memoize(number(4));
      break;
    case '\x94':  // MEMOIZE
      memoize(memo_.size());
      break;
    case 'h':  // BINGET
      recall(number(1));
      break;
    case 'j':  // LONG_BINGET
      recall(number(4));
      break;
    default:
      fail(fmt::format("the pickle's operation {:#04x} is not supported",
                       static_cast<unsigned char>(opcode)));
  }
}

}  // namespace

const PickleValue* PickleValue::member(std::string_view key) const {
  const auto* const dictionary = std::get_if<Dictionary>(&data);
  if (dictionary == nullptr) {
    return nullptr;
  }
  for (const auto& [name, value] : *dictionary) {
    if (name->text() != nullptr && *name->text() == key) {
      return value;
    }
  }
  return nullptr;
}

Pickle::Pickle(std::string_view pickle) : root_(Machine(pickle, values_).run()) {}

}  // namespace bench
