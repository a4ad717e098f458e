# Finds each library that the project links against.

find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

# models, kernels
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(OneDNN 3 REQUIRED)
find_package(hwloc 2.1 REQUIRED)
find_package(hwy REQUIRED CONFIG)

# pipeline: images, checksums, records
find_package(JPEG REQUIRED)
find_package(Isal REQUIRED)
find_package(Protobuf REQUIRED)

# bench, results
find_package(gflags REQUIRED)
find_package(glog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(SQLite3 3.37 REQUIRED)  # STRICT tables.
find_package(ZLIB REQUIRED)

# tests and benchmarks
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
