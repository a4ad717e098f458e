#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/tensor_file.h"
#include "variable_mgmt/towers/towers.h"
#include "variable_mgmt/world/world.h"

namespace bench {

/// The prefix of the tensors in a checkpoint that are not variables of the network.
inline constexpr std::string_view kRunStatePrefix = "run_state/";

/// How the variables of several towers are related.
enum class TowerVariables : std::uint8_t {
  shared,    ///< Trained variables and slots are equal, or one tower has each.
  separate,  ///< Every tower has its own.
};

/// Everything that the next step of a training run depends on besides its settings, the step's
/// number and its batch. A copy in host memory, in canonical order, so that any strategy, number of
/// towers and device can continue with it.
///
/// Tensors have the name of their variable. The others begin with kRunStatePrefix:
///
///     optimizer/SLOT/VARIABLE         the optimizer's slots
///     previous_gradients/VARIABLE     gradients that the next update applies, and
///     previous_variables/VARIABLE     the variables that they were computed with
///     computing_variables/VARIABLE    older variables that the next step reads
///     tower/NUMBER/...                values of another tower than the first one of all processes
///
/// The towers' averages of batch norm differ. With TowerVariables::separate, everything does.
struct RunState {
  struct Tensor {
    StoredType type = StoredType::f32;
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
  };
  std::map<std::string, Tensor> tensors;
  /// The state of the loss scale and the counts of updates, as text; by name.
  std::map<std::string, std::string> metadata;
};

/// Copies the state of all towers between two steps, and adds `metadata`. Waits. With a world, all
/// of its workers must call it. The first one returns the state of all, the others their own.
RunState read_run_state(Towers& towers, TowerVariables related, World* world = nullptr,
                        std::map<std::string, std::string> metadata = {});

/// Gives a tower and its strategy the state in a file that has all variables of the network. Call
/// it on the tower's thread, before the first step; the towers must do it at the same time. The
/// file may be from another strategy or fewer towers. What it lacks then gets the values of the
/// first tower or of a new run. `world` gives the number of the process. Throws DataError if the
/// file's numbers are malformed, or if it lacks the slots of the optimizer.
void restore_run_state(Towers& towers, int tower, TowerVariables related, const TensorFile& file,
                       const World* world = nullptr);

}  // namespace bench
