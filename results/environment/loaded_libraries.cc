// Queries the loader: loaded_libraries of machine.h.

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>

#include "results/environment/machine.h"

namespace bench {
namespace {

std::string hexadecimal(std::span<const unsigned char> bytes) {
  std::string out;
  for (const unsigned char byte : bytes) {
    std::array<char, 3> text{};
    std::snprintf(text.data(), text.size(), "%02x", static_cast<unsigned>(byte));
    out += text.data();
  }
  return out;
}

std::size_t padded(std::size_t size) { return (size + 3) / 4 * 4; }

/// The note of type NT_GNU_BUILD_ID in one segment of notes, laid out as in elf(5); empty if
/// absent.
std::string build_id_in(std::span<const unsigned char> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note{};
    std::memcpy(&note, notes.data(), sizeof(note));
    const std::size_t size = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
    if (size > notes.size()) return {};
    const unsigned char* name = notes.data() + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      return hexadecimal({name + 4, note.n_descsz});
    }
    notes = notes.subspan(size);
  }
  return {};
}

/// The version after ".so." in the name of the file to which the path refers: "15.6.4".
Captured<std::string> version_in_name(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  const std::string name = error ? path : real.filename().string();
  const std::size_t so = name.find(".so.");
  if (so == name.npos) return Unknown{"the file name contains no version"};
  const std::string version = name.substr(so + 4);
  if (version.find('.') == version.npos) {
    return Unknown{"the file name contains only the interface version, " + version};
  }
  return version;
}

int add_library(dl_phdr_info* info, std::size_t, void* data) {
  auto& out = *static_cast<std::vector<results::Library>*>(data);
  const std::string path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  if (path.empty()) return 0;  // The program itself.
  results::Library library{.name = std::filesystem::path(path).filename().string()};
  if (path.starts_with('/')) {
    library.so_path = path;
    library.version = version_in_name(path);
  } else {
    library.so_path = Unknown{"mapped by the kernel, not from a file"};
    library.version = Unknown{"mapped by the kernel, not from a file"};
  }
  library.build_id = Unknown{"the library has no build id"};
  for (const ElfW(Phdr) & segment : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader hands addresses out as integers.
    const auto* begin = reinterpret_cast<const unsigned char*>(info->dlpi_addr + segment.p_vaddr);
    const std::string id = build_id_in({begin, segment.p_memsz});
    if (!id.empty()) library.build_id = id;
  }
  out.push_back(std::move(library));
  return 0;
}

}  // namespace

std::vector<results::Library> loaded_libraries() {
  std::vector<results::Library> out;
  dl_iterate_phdr(add_library, &out);
  std::sort(out.begin(), out.end(),
            [](const results::Library& a, const results::Library& b) { return a.name < b.name; });
  return out;
}

}  // namespace bench
