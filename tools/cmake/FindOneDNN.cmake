# Finds oneDNN 3.x as target DNNL::dnnl. Uses BENCH_ONEDNN_PREFIX, which tools/bench sets. Otherwise it uses the
# installed or cached version that tools/setup/onednn.sh finds. It never accepts version 2.

set(BENCH_ONEDNN_PREFIX "" CACHE PATH "Where oneDNN 3.x is installed; found when empty")

set(OneDNN_prefix "${BENCH_ONEDNN_PREFIX}")
if(NOT EXISTS "${OneDNN_prefix}/include/oneapi/dnnl/dnnl_version.h")
  execute_process(COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/../setup/onednn.sh" find
                  OUTPUT_VARIABLE OneDNN_prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()

# The prefix takes precedence over results of earlier runs.
unset(dnnl_DIR CACHE)
if(OneDNN_prefix)
  find_package(dnnl 3 CONFIG QUIET PATHS "${OneDNN_prefix}" NO_DEFAULT_PATH)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  OneDNN REQUIRED_VARS dnnl_DIR VERSION_VAR dnnl_VERSION
  REASON_FAILURE_MESSAGE "oneDNN 3.x is neither installed nor in the cache: run tools/bench or tools/test, \
which provide it, or set BENCH_ONEDNN_PREFIX to where it is installed.")

# Copies a library into the build, unless it is in the linker's default path. Programs then start for other users and
# without the cache.
function(copy_library target folder)
  get_target_property(configuration ${target} IMPORTED_CONFIGURATIONS)
  list(GET configuration 0 configuration)
  get_target_property(library ${target} IMPORTED_LOCATION_${configuration})
  get_target_property(soname ${target} IMPORTED_SONAME_${configuration})
  get_filename_component(library_folder "${library}" DIRECTORY)
  if(NOT soname OR library_folder IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    return()
  endif()
  configure_file("${library}" "${folder}/${soname}" COPYONLY)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} "${folder}/${soname}")
  file(GLOB licences "${library_folder}/../share/doc/*dnn*/LICENSE"
       "${library_folder}/../share/doc/*dnn*/THIRD-PARTY-PROGRAMS")
  file(COPY ${licences} DESTINATION "${folder}/onednn")
endfunction()

if(OneDNN_FOUND)
  copy_library(DNNL::dnnl "${PROJECT_BINARY_DIR}/lib")
endif()
