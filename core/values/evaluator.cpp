#include "values/evaluator.h"

namespace rookery::values {

namespace {

// The layout, if it can encode every position without its past.
const encode::ObservationLayout& require_layout(const std::string& name,
                                                std::string_view observation) {
    const encode::ObservationLayout& layout = encode::find_observation(observation);
    if (layout.history > 1)
        throw std::invalid_argument("evaluator '" + name + "': the observation " +
                                    std::string(observation) + " needs the last " +
                                    std::to_string(layout.history) +
                                    " positions; alpha-beta evaluates single positions");
    try {
        encode::check_encodable(layout, start_position());
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument("evaluator '" + name + "': " + error.what() +
                                    "; alpha-beta evaluates any position");
    }
    return layout;
}

}  // namespace

ObservationEvaluator::ObservationEvaluator(std::string name, std::string_view observation,
                                           std::size_t batch, Function function)
    : name_(std::move(name)),
      layout_(require_layout(name_, observation)),
      batch_(batch),
      function_(std::move(function)) {
    if (batch_ < 1)
        throw std::invalid_argument("evaluator '" + name_ + "': batch must be 1 or more");
}

void ObservationEvaluator::evaluate(std::span<const Position> positions,
                                    std::span<float> values) const {
    const RepetitionKeys none;
    std::vector<float> observations(positions.size() * layout_.size());
    for (std::size_t i = 0; i < positions.size(); ++i)
        layout_.encode({{&positions[i]}, 1, &none}, observations.data() + i * layout_.size());
    function_(std::move(observations), values);
}

}  // namespace rookery::values
