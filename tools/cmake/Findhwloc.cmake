# Finds hwloc 2 or newer as hwloc::hwloc. It identifies packages, cores and hardware threads.

find_path(hwloc_INCLUDE_DIR hwloc.h)
# Debian puts this header into the architecture's folder.
find_path(hwloc_CONFIG_DIR hwloc/autogen/config.h)
find_library(hwloc_LIBRARY hwloc)
mark_as_advanced(hwloc_INCLUDE_DIR hwloc_CONFIG_DIR hwloc_LIBRARY)

if(hwloc_CONFIG_DIR)
  file(STRINGS "${hwloc_CONFIG_DIR}/hwloc/autogen/config.h" hwloc_version_line
       REGEX "#define HWLOC_VERSION \"")
  string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" hwloc_VERSION "${hwloc_version_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hwloc REQUIRED_VARS hwloc_LIBRARY hwloc_INCLUDE_DIR hwloc_CONFIG_DIR
                                  VERSION_VAR hwloc_VERSION)

if(hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(hwloc::hwloc PROPERTIES
    IMPORTED_LOCATION "${hwloc_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${hwloc_INCLUDE_DIR};${hwloc_CONFIG_DIR}")
endif()
