// Networks of the family `pyramid` with their training step: three squares in, ReLU layers, one Q
// value per action out.
//
//   squares [B, 3] --three rows and a constant--> [W1] --ReLU, layer--> ... --> Q values [B, A]
//
// The planes of `kpk3` are one-hot minus their mean, so the first layer is the sum of three rows
// minus the mean of all rows. A batch is processed in chunks that stay in the cache: forward, loss,
// backward; then one step of torch.optim.Adam. Float in a fixed order, so results are reproducible.
//
// All weights in one array, torch's tensors concatenated:
//   rows [192, W1] | bias [W1] | for each further layer: weight [out, in] | bias [out]
// Internally, widths are zero-padded to whole vector registers.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/aligned.h"

namespace rookery::nets {

struct PyramidLoss {
    bool huber = false;  // with threshold 1; otherwise the squared error
    float learning_rate = 1e-3f;
    float beta1 = 0.9f;
    float beta2 = 0.999f;
    float epsilon = 1e-8f;
};

class PyramidNet {
  public:
    static constexpr int PIECES = 3;
    static constexpr int SQUARES = 64;

    // hidden: widths of the hidden layers; empty: a linear network. dueling: the last layer has a
    // value and an advantage per action. Weights start at zero. Throws std::invalid_argument.
    PyramidNet(const std::vector<int>& hidden, int actions, bool dueling);

    [[nodiscard]] int actions() const { return actions_; }
    [[nodiscard]] std::size_t size() const { return size_; }  // weights, without padding

    // --- Weights and the optimiser's moments, in the layout above ---
    enum class Part : std::uint8_t { WEIGHTS, FIRST_MOMENTS, SECOND_MOMENTS };
    [[nodiscard]] static Part find_part(std::string_view name);  // weights, first_moments, ...
    [[nodiscard]] std::vector<float> read(Part part) const;  // [size()]
    void write(Part part, std::span<const float> values);
    std::uint64_t steps = 0;  // of the optimiser

    // --- Squares [B, 3] below 64; these throw std::invalid_argument for inconsistent inputs ---
    // Q values [B, A].
    [[nodiscard]] std::vector<float> q_values(std::span<const std::int64_t> squares) const;
    // One step on the mean of importance * loss(Q(squares, action) - target); empty importance: 1.
    struct Learnt {
        double loss;  // mean
        std::vector<float> errors;  // [B] target - Q before the step
    };
    Learnt learn(std::span<const std::int64_t> squares, std::span<const std::int64_t> actions,
                 std::span<const float> targets, std::span<const float> importance,
                 const PyramidLoss& loss);

  private:
    struct Layer {
        int in, out, padded_in, padded_out;
        std::size_t weight, bias;  // offsets in the padded arrays: weight [in, out], bias [out]
        std::size_t transposed;  // offset in transposed_: [out, in]
    };
    struct Chunk;

    template <class Function> void for_each_block(Function&& function) const;
    void refresh();
    void forward(Chunk& chunk, const std::int64_t* squares, int count) const;
    void backward(Chunk& chunk, const std::int64_t* squares, int count);
    void update(const PyramidLoss& loss);

    int actions_;
    bool dueling_;
    int first_;  // padded width of the rows
    std::size_t size_ = 0;
    std::size_t row_bias_ = 0;
    std::vector<Layer> layers_;
    std::vector<int> widths_;  // padded: W1, ..., outputs
    std::vector<int> plain_widths_;
    AlignedArray<float> weights_, first_moments_, second_moments_, gradient_;
    // Derived from the weights: the constant of the first layer, and the transposed weights for the
    // backward pass.
    AlignedArray<float> constant_, transposed_;
    static constexpr AlignedArray<float> PyramidNet::* PARTS[] = {
        // by Part
        &PyramidNet::weights_, &PyramidNet::first_moments_, &PyramidNet::second_moments_};
};

}  // namespace rookery::nets
