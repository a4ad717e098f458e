#pragma once

#include <string>

namespace bench::results {

/// The JSON Schema (draft 2020-12) of a record, which is results/record.schema.json. It accepts
/// members that it does not list, so that it also accepts records of later versions.
std::string record_schema();

/// The page that defines the record's fields and metrics, which is results/RECORD.md.
std::string record_page();

}  // namespace bench::results
