#pragma once

#include <vector>

#include "report/html.hpp"
#include "report/training_report.hpp"

namespace pibinn {

/// The figures of a training's page. Several seeds are drawn as one thin curve each, with their
/// mean over them.

/// Loss and test error by epoch, with a line where each stage begins.
std::vector<Figure> learning_curves(const TrainingReport& report);
/// Error after each layer, then theta, beta and omega as far as the network has them.
std::vector<Figure> layer_figures(const TrainingReport& report);
/// Each signal over its truth; curves also over what was measured.
std::vector<Figure> signal_figures(const TrainingReport& report);

}  // namespace pibinn
