#pragma once

#include "pibinn/model.hpp"
#include "pibinn/problem.hpp"
#include "pibinn/thread_pool.hpp"

namespace pibinn {

/// The cut of `polish` with which a model recovers training signals best, by their energy nmse.
void choose_cut(const DataSet& signals, Model& model, ThreadPool& pool);

/// Gives a model without polish the usual steps, where training signals gain by them.
void choose_polish(const DataSet& signals, Model& model, ThreadPool& pool);

}  // namespace pibinn
