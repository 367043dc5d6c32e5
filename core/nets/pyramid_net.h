// Networks of the family `pyramid` (nets/pyramid.py) with their learning step, for batches of small
// positions: three squares in, one Q value per action out, ReLU layers between.
//
//   squares [B, 3] --three rows and a constant--> [W1] --ReLU, layer--> ... --> Q values [B, A]
//
// The zero-mean planes of `kpk3` have one raised square each, so the first layer is the sum of
// three rows less the mean of all rows. A batch is worked through in chunks that stay in the cache:
// forward, loss, backward and the sums of the gradient, then one step of Adam as torch.optim.Adam
// computes it. Everything is float and in a fixed order, so equal inputs give equal bits.
//
// All weights in one array, torch's tensors concatenated:
//   rows [192, W1] | bias [W1] | for each further layer: weight [out, in] | bias [out]
// Inside, widths are padded to whole vector registers; what is padded stays zero.

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

    // hidden: widths of the hidden layers, none for a linear network. dueling: the last layer gives
    // a value and an advantage per action. Throws std::invalid_argument. Weights start at zero.
    PyramidNet(const std::vector<int>& hidden, int actions, bool dueling);

    [[nodiscard]] int actions() const { return actions_; }
    [[nodiscard]] std::size_t size() const { return size_; }  // weights, without padding

    // --- Weights and the optimiser's moments, in the layout above ---
    enum class Part : std::uint8_t { WEIGHTS, FIRST_MOMENTS, SECOND_MOMENTS };
    [[nodiscard]] static Part find_part(std::string_view name);  // weights, first_moments, ...
    [[nodiscard]] std::vector<float> read(Part part) const;  // [size()]
    void write(Part part, std::span<const float> values);
    std::uint64_t steps = 0;  // of the optimiser, since its moments were zero

    // --- Use: squares [B, 3] below 64; throws std::invalid_argument where inputs do not fit ---
    // Q values [B, A].
    [[nodiscard]] std::vector<float> q_values(std::span<const std::int64_t> squares) const;
    // One step on the mean of importance * loss(Q(squares, action) - target); without importance
    // all weigh 1.
    struct Learnt {
        double loss;  // mean
        std::vector<float> errors;  // [B] target - Q as it was before
    };
    Learnt learn(std::span<const std::int64_t> squares, std::span<const std::int64_t> actions,
                 std::span<const float> targets, std::span<const float> importance,
                 const PyramidLoss& loss);

  private:
    struct Layer {
        int in, out;  // as they are
        int padded_in, padded_out;  // as they are kept
        std::size_t weight, bias;  // places in the padded arrays: weight [in, out], bias [out]
        std::size_t transposed;  // place in transposed_: [out, in]
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
    // Made from the weights after each change: the constant of the first layer, and each layer's
    // weights the other way round for the backward pass.
    AlignedArray<float> constant_, transposed_;
};

}  // namespace rookery::nets
