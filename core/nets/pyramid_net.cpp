#include "nets/pyramid_net.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "base/choose.h"

namespace rookery::nets {

namespace {

// Floats per vector register, and registers used as accumulators of a product block.
#if defined(__AVX512F__)
constexpr int LANES = 16;
constexpr int ACCUMULATORS = 24;
#else
constexpr int LANES = 8;
constexpr int ACCUMULATORS = 12;
#endif
constexpr int PAD = 16;  // widths are padded to multiples of it: whole registers of either size
using Vector __attribute__((vector_size(LANES * sizeof(float)), aligned(LANES * sizeof(float)))) =
    float;

constexpr int CHUNK = 48;  // samples per pass; their activations fit the cache

constexpr int padded(int width) { return (width + PAD - 1) / PAD * PAD; }

Vector& vector_at(float* place) { return *reinterpret_cast<Vector*>(place); }
const Vector& vector_at(const float* place) { return *reinterpret_cast<const Vector*>(place); }

// left(m, k) = data[m * row + k * column]
struct Left {
    const float* data;
    std::ptrdiff_t row, column;
};

// out [Rows, Columns * LANES] += left [Rows, depth] * right [depth, Columns * LANES]
template <int Rows, int Columns>
void product_block(Left left, const float* right, std::ptrdiff_t right_stride, float* out,
                   std::ptrdiff_t out_stride, int depth) {
    Vector sums[Rows][Columns];
    for (int m = 0; m < Rows; ++m)
        for (int n = 0; n < Columns; ++n) sums[m][n] = vector_at(out + m * out_stride + n * LANES);
    for (int k = 0; k < depth; ++k) {
        Vector line[Columns];
        for (int n = 0; n < Columns; ++n) line[n] = vector_at(right + k * right_stride + n * LANES);
        for (int m = 0; m < Rows; ++m) {
            const float factor = left.data[m * left.row + k * left.column];
            for (int n = 0; n < Columns; ++n) sums[m][n] += factor * line[n];
        }
    }
    for (int m = 0; m < Rows; ++m)
        for (int n = 0; n < Columns; ++n) vector_at(out + m * out_stride + n * LANES) = sums[m][n];
}

template <int Columns>
void product_panel(Left left, const float* right, std::ptrdiff_t right_stride, float* out,
                   std::ptrdiff_t out_stride, int rows, int depth) {
    int m = 0;
    const auto blocks = [&](auto count) {
        constexpr int COUNT = decltype(count)::value;
        for (; m + COUNT <= rows; m += COUNT)
            product_block<COUNT, Columns>({left.data + m * left.row, left.row, left.column}, right,
                                          right_stride, out + m * out_stride, out_stride, depth);
    };
    blocks(std::integral_constant<int, ACCUMULATORS / Columns>{});
    blocks(std::integral_constant<int, 2>{});
    blocks(std::integral_constant<int, 1>{});
}

// out [rows, columns] += left [rows, depth] * right [depth, columns]; columns a multiple of PAD.
void add_product(Left left, const float* right, float* out, int rows, int depth, int columns) {
    int n = 0;
    const auto panel = [&](auto count) {
        constexpr int COUNT = decltype(count)::value;
        for (; n + COUNT * LANES <= columns; n += COUNT * LANES)
            product_panel<COUNT>(left, right + n, columns, out + n, columns, rows, depth);
    };
    panel(std::integral_constant<int, 4>{});
    panel(std::integral_constant<int, 2>{});
    panel(std::integral_constant<int, 1>{});
}

void add_line(float* to, const float* from, int width, float factor = 1.0f) {
    for (int k = 0; k < width; k += LANES) vector_at(to + k) += factor * vector_at(from + k);
}

void require_range(const char* name, std::span<const std::int64_t> values, int end) {
    for (const std::int64_t value : values)
        if (value < 0 || value >= end)
            throw std::invalid_argument(std::string(name) + " " + std::to_string(value) +
                                        " is not in 0 .. " + std::to_string(end - 1));
}

void require_count(const char* name, std::size_t found, std::size_t positions) {
    if (found != positions)
        throw std::invalid_argument("there are " + std::to_string(positions) + " positions, but " +
                                    std::to_string(found) + " " + name);
}

}  // namespace

// Activations and their derivatives, [CHUNK, width] for each layer; the last are the outputs.
struct PyramidNet::Chunk {
    explicit Chunk(const std::vector<int>& widths) {
        for (const int width : widths) {
            active.emplace_back(std::size_t(CHUNK) * std::size_t(width));
            slope.emplace_back(std::size_t(CHUNK) * std::size_t(width));
        }
    }
    std::vector<AlignedArray<float>> active, slope;
};

PyramidNet::PyramidNet(const std::vector<int>& hidden, int actions, bool dueling)
    : actions_(actions), dueling_(dueling) {
    plain_widths_ = hidden;
    plain_widths_.push_back(actions + dueling);
    for (const int width : plain_widths_)
        if (width < 1 || width > 4096)
            throw std::invalid_argument("width " + std::to_string(width) + " is not in 1 .. 4096");
    for (const int width : plain_widths_) widths_.push_back(padded(width));
    first_ = widths_[0];
    std::size_t place = std::size_t(PIECES * SQUARES) * std::size_t(first_);
    row_bias_ = place;
    place += std::size_t(first_);
    size_ = std::size_t(PIECES * SQUARES + 1) * std::size_t(plain_widths_[0]);
    std::size_t transposed = 0;
    for (std::size_t i = 1; i < widths_.size(); ++i) {
        Layer layer{plain_widths_[i - 1], plain_widths_[i], widths_[i - 1], widths_[i], 0, 0, 0};
        const std::size_t count = std::size_t(layer.padded_in) * std::size_t(layer.padded_out);
        layer.weight = place;
        layer.bias = place + count;
        layer.transposed = transposed;
        place += count + std::size_t(layer.padded_out);
        transposed += count;
        size_ += std::size_t(layer.in + 1) * std::size_t(layer.out);
        layers_.push_back(layer);
    }
    for (auto* part : {&weights_, &first_moments_, &second_moments_, &gradient_})
        *part = AlignedArray<float>(place);
    constant_ = AlignedArray<float>(std::size_t(first_));
    transposed_ = AlignedArray<float>(transposed);
}

// --- Weights ---

// function(offset, stride, length) of runs of floats, in torch's order.
template <class Function> void PyramidNet::for_each_block(Function&& function) const {
    for (int row = 0; row < PIECES * SQUARES + 1; ++row)  // the bias follows the rows
        function(std::size_t(row) * std::size_t(first_), std::size_t(1), plain_widths_[0]);
    for (const Layer& layer : layers_) {
        for (int out = 0; out < layer.out; ++out)
            function(layer.weight + std::size_t(out), std::size_t(layer.padded_out), layer.in);
        function(layer.bias, std::size_t(1), layer.out);
    }
}

PyramidNet::Part PyramidNet::find_part(std::string_view name) {
    return choose<Part>("part", name, {"weights", "first_moments", "second_moments"});
}

std::vector<float> PyramidNet::read(Part part) const {
    std::vector<float> values(size_);
    const AlignedArray<float>& from = this->*PARTS[std::size_t(part)];
    std::size_t next = 0;
    for_each_block([&](std::size_t place, std::size_t step, int length) {
        for (int k = 0; k < length; ++k) values[next++] = from[place + std::size_t(k) * step];
    });
    return values;
}

void PyramidNet::write(Part part, std::span<const float> values) {
    if (values.size() != size_)
        throw std::invalid_argument("the network has " + std::to_string(size_) + " weights, not " +
                                    std::to_string(values.size()));
    AlignedArray<float>& to = this->*PARTS[std::size_t(part)];
    std::size_t next = 0;
    for_each_block([&](std::size_t place, std::size_t step, int length) {
        for (int k = 0; k < length; ++k) to[place + std::size_t(k) * step] = values[next++];
    });
    if (part == Part::WEIGHTS) refresh();
}

void PyramidNet::refresh() {
    // A plane is 63/64 on its square and -1/64 elsewhere.
    std::memset(constant_.data(), 0, constant_.size() * sizeof(float));
    for (int row = 0; row < PIECES * SQUARES; ++row)
        add_line(constant_.data(), weights_.data() + row * first_, first_, -1.0f / SQUARES);
    add_line(constant_.data(), weights_.data() + row_bias_, first_);
    for (const Layer& layer : layers_) {
        const float* from = weights_.data() + layer.weight;
        float* to = transposed_.data() + layer.transposed;
        for (int out = 0; out < layer.padded_out; ++out)
            for (int in = 0; in < layer.padded_in; ++in)
                to[out * layer.padded_in + in] = from[in * layer.padded_out + out];
    }
}

// --- Passes over a chunk ---

void PyramidNet::forward(Chunk& chunk, const std::int64_t* squares, int count) const {
    float* sums = chunk.active[0].data();
    for (int s = 0; s < count; ++s) {
        const float* rows[PIECES];
        for (int piece = 0; piece < PIECES; ++piece)
            rows[piece] =
                weights_.data() + (SQUARES * piece + squares[PIECES * s + piece]) * first_;
        float* sum = sums + s * first_;
        for (int k = 0; k < first_; k += LANES)
            vector_at(sum + k) = vector_at(constant_.data() + k) + vector_at(rows[0] + k) +
                                 vector_at(rows[1] + k) + vector_at(rows[2] + k);
    }
    for (std::size_t i = 0; i < layers_.size(); ++i) {
        const Layer& layer = layers_[i];
        float* from = chunk.active[i].data();
        for (int k = 0; k < count * layer.padded_in; ++k) from[k] = std::max(from[k], 0.0f);
        float* to = chunk.active[i + 1].data();
        for (int s = 0; s < count; ++s)
            std::memcpy(to + s * layer.padded_out, weights_.data() + layer.bias,
                        std::size_t(layer.padded_out) * sizeof(float));
        add_product({from, layer.padded_in, 1}, weights_.data() + layer.weight, to, count,
                    layer.padded_in, layer.padded_out);
    }
}

// From the derivatives of the outputs in chunk.slope.back(): adds to the gradient.
void PyramidNet::backward(Chunk& chunk, const std::int64_t* squares, int count) {
    float* gradient = gradient_.data();
    for (std::size_t i = layers_.size(); i-- > 0;) {
        const Layer& layer = layers_[i];
        const float *active = chunk.active[i].data(), *above = chunk.slope[i + 1].data();
        for (int s = 0; s < count; ++s)
            add_line(gradient + layer.bias, above + s * layer.padded_out, layer.padded_out);
        // weight gradient [in, out] += active^T [in, count] * above [count, out]
        add_product({active, 1, layer.padded_in}, above, gradient + layer.weight, layer.padded_in,
                    count, layer.padded_out);
        float* below = chunk.slope[i].data();
        std::fill_n(below, count * layer.padded_in, 0.0f);
        add_product({above, layer.padded_out, 1}, transposed_.data() + layer.transposed, below,
                    count, layer.padded_out, layer.padded_in);
        for (int k = 0; k < count * layer.padded_in; ++k)
            below[k] = active[k] > 0.0f ? below[k] : 0.0f;
    }
    // Rows of the first layer; their common part, -1/64 of the bias's gradient, follows in
    // update().
    for (int s = 0; s < count; ++s) {
        const float* slope = chunk.slope[0].data() + s * first_;
        add_line(gradient + row_bias_, slope, first_);
        for (int piece = 0; piece < PIECES; ++piece)
            add_line(gradient + (SQUARES * piece + squares[PIECES * s + piece]) * first_, slope,
                     first_);
    }
}

void PyramidNet::update(const PyramidLoss& loss) {
    for (int row = 0; row < PIECES * SQUARES; ++row)
        add_line(gradient_.data() + row * first_, gradient_.data() + row_bias_, first_,
                 -1.0f / SQUARES);
    ++steps;
    const float step = float(loss.learning_rate / (1.0 - std::pow(loss.beta1, double(steps))));
    const float scale = float(1.0 / std::sqrt(1.0 - std::pow(loss.beta2, double(steps))));
    const float beta1 = loss.beta1, beta2 = loss.beta2, epsilon = loss.epsilon;
    float *weights = weights_.data(), *first = first_moments_.data();
    float *second = second_moments_.data(), *gradient = gradient_.data();
    const std::size_t count = weights_.size();
#pragma GCC ivdep
    for (std::size_t i = 0; i < count; ++i) {
        const float slope = gradient[i];
        first[i] = beta1 * first[i] + (1.0f - beta1) * slope;
        second[i] = beta2 * second[i] + (1.0f - beta2) * slope * slope;
        weights[i] -= step * first[i] / (std::sqrt(second[i]) * scale + epsilon);
        gradient[i] = 0.0f;
    }
    refresh();
}

// --- Use ---

std::vector<float> PyramidNet::q_values(std::span<const std::int64_t> squares) const {
    require_range("square", squares, SQUARES);
    std::vector<float> values(squares.size() / PIECES * std::size_t(actions_));
    Chunk chunk(widths_);
    const int total = int(squares.size() / PIECES), width = widths_.back();
    for (int start = 0; start < total; start += CHUNK) {
        const int count = std::min(CHUNK, total - start);
        forward(chunk, squares.data() + PIECES * start, count);
        for (int s = 0; s < count; ++s) {
            const float* outputs = chunk.active.back().data() + s * width;
            float* found = values.data() + std::ptrdiff_t(start + s) * actions_;
            if (!dueling_) {
                std::copy_n(outputs, actions_, found);
                continue;
            }
            float mean = 0.0f;
            for (int a = 0; a < actions_; ++a) mean += outputs[1 + a];
            mean /= float(actions_);
            for (int a = 0; a < actions_; ++a) found[a] = outputs[0] + outputs[1 + a] - mean;
        }
    }
    return values;
}

PyramidNet::Learnt PyramidNet::learn(std::span<const std::int64_t> squares,
                                     std::span<const std::int64_t> actions,
                                     std::span<const float> targets,
                                     std::span<const float> importance, const PyramidLoss& loss) {
    const std::size_t positions = squares.size() / PIECES;
    if (!positions) throw std::invalid_argument("there is no position to learn from");
    require_range("square", squares, SQUARES);
    require_range("action", actions, actions_);
    require_count("actions", actions.size(), positions);
    require_count("targets", targets.size(), positions);
    if (!importance.empty()) require_count("weights", importance.size(), positions);
    std::vector<float> errors(positions);
    Chunk chunk(widths_);
    const int total = int(actions.size()), width = widths_.back();
    double sum = 0.0;
    for (int start = 0; start < total; start += CHUNK) {
        const int count = std::min(CHUNK, total - start);
        forward(chunk, squares.data() + PIECES * start, count);
        float* slopes = chunk.slope.back().data();
        std::fill_n(slopes, count * width, 0.0f);
        for (int s = 0; s < count; ++s) {
            const float* outputs = chunk.active.back().data() + s * width;
            float* slope = slopes + s * width;
            const int action = int(actions[std::size_t(start + s)]);
            float predicted = outputs[action + dueling_];
            if (dueling_) {
                float mean = 0.0f;
                for (int a = 0; a < actions_; ++a) mean += outputs[1 + a];
                predicted += outputs[0] - mean / float(actions_);
            }
            const float error = predicted - targets[std::size_t(start + s)];
            errors[std::size_t(start + s)] = -error;
            const float weight = importance.empty() ? 1.0f : importance[std::size_t(start + s)];
            const float size = std::fabs(error);
            const bool linear = loss.huber && size > 1.0f;
            const float value = !loss.huber ? error * error
                                : linear    ? size - 0.5f
                                            : 0.5f * error * error;
            sum += double(weight * value);
            const float derivative = !loss.huber ? 2.0f * error
                                     : linear    ? std::copysign(1.0f, error)
                                                 : error;
            const float scaled = weight * derivative / float(total);
            if (dueling_) {
                slope[0] = scaled;
                for (int a = 0; a < actions_; ++a) slope[1 + a] = -scaled / float(actions_);
            }
            slope[action + dueling_] += scaled;
        }
        backward(chunk, squares.data() + PIECES * start, count);
    }
    update(loss);
    return {sum / double(total), std::move(errors)};
}

}  // namespace rookery::nets
