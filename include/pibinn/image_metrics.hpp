// room: data
#pragma once

#include "pibinn/image.hpp"

namespace pibinn {

/// 10 log10(1 / mean squared error), for values from 0 to 1; 400 dB for equal pictures.
double psnr_db(const Image& truth, const Image& estimate);

/// The mean structural similarity of Wang et al. (2004): Gaussian windows of 11 x 11 with deviation
/// 1.5 that lie within the picture, K1 = 0.01, K2 = 0.03, values from 0 to 1. Pictures smaller than
/// a window are an input error.
double ssim(const Image& truth, const Image& estimate);

}  // namespace pibinn
