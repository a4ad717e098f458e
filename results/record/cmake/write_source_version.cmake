# Run at every build: cmake -DSOURCE_DIR=... -DOUTPUT=... -P write_source_version.cmake
# Writes the git revision of SOURCE_DIR into the header OUTPUT. Keeps a header that would not change, so that nothing is
# compiled again.

set(rev "")
set(time "")
set(dirty "false")
set(why "")

find_program(GIT git)
if(NOT GIT)
  set(why "git was not found when this was built")
else()
  execute_process(COMMAND "${GIT}" rev-parse --show-prefix HEAD
                  WORKING_DIRECTORY "${SOURCE_DIR}" RESULT_VARIABLE status
                  OUTPUT_VARIABLE answer ERROR_VARIABLE error OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCH "^([^\n]*)\n([0-9a-f]+)$" matched "${answer}")
  if(NOT status EQUAL 0 OR NOT matched)
    string(REGEX MATCH "^[^\n]*" first_line "${error}")
    set(why "git reported no revision of the source at build time: ${first_line}")
  elseif(NOT "${CMAKE_MATCH_1}" STREQUAL "")
    set(why "the source was not a separate git checkout at build time")
  else()
    set(rev "${CMAKE_MATCH_2}")
    execute_process(COMMAND "${GIT}" show -s --format=%cI HEAD
                    WORKING_DIRECTORY "${SOURCE_DIR}" OUTPUT_VARIABLE time
                    OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND "${GIT}" --no-optional-locks status --porcelain --untracked-files=no
                    WORKING_DIRECTORY "${SOURCE_DIR}" OUTPUT_VARIABLE changes)
    if(NOT changes STREQUAL "")
      set(dirty "true")
    endif()
  endif()
endif()

file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
#pragma once

// Written at every build; touched only when it changes.
namespace bench::results::generated {

inline constexpr const char* kGitRevision = R"text(@rev@)text";
inline constexpr const char* kGitCommitTime = R"text(@time@)text";
inline constexpr bool kGitDirty = @dirty@;
inline constexpr const char* kGitWhy = R"text(@why@)text";

}  // namespace bench::results::generated
]])
