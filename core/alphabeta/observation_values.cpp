#include "alphabeta/observation_values.h"

namespace rookery::alphabeta {

namespace {

// The layout if every position without a past can be written in it.
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
        throw std::invalid_argument("evaluator '" + name_ + "': a batch of 0 positions");
}

void ObservationEvaluator::evaluate(std::span<const Position> positions,
                                    std::span<float> values) const {
    const RepetitionKeys none;
    std::vector<float> observations(positions.size() * layout_.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        encode::EncodeView view{};
        view.positions[0] = &positions[i];
        view.count = 1;
        view.keys = &none;
        layout_.encode(view, observations.data() + i * layout_.size());
    }
    function_(std::move(observations), values);
}

}  // namespace rookery::alphabeta
