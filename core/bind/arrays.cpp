// Conversions shared by the bindings (bind.h).

#include "bind/bind.h"

namespace rookery::bind {

namespace {

std::string shape_text(const std::vector<std::size_t>& shape) {
    std::string text;
    for (const std::size_t length : shape)
        text += (text.empty() ? "" : ", ") + std::to_string(length);
    return "(" + text + ")";
}

}  // namespace

AnyArray require_array(nb::handle object, const std::vector<std::size_t>& shape) {
    AnyArray array;
    if (!nb::try_cast(object, array))
        throw std::invalid_argument("out must be a writable NumPy array of a native number type");
    std::vector<std::size_t> given;
    bool contiguous = true;
    std::int64_t stride = 1;
    for (std::size_t i = array.ndim(); i-- > 0;) {
        given.insert(given.begin(), array.shape(i));
        contiguous &= array.shape(i) <= 1 || array.stride(i) == stride;
        stride *= std::int64_t(array.shape(i));
    }
    if (given != shape)
        throw std::invalid_argument("out has shape " + shape_text(given) + " instead of " +
                                    shape_text(shape));
    // Strides of an empty array are meaningless.
    if (!contiguous && array.size() > 0) throw std::invalid_argument("out must be C-contiguous");
    return array;
}

nb::object observation_view(nb::handle self, const encode::ObservationLayout* layout, bool bytes,
                            std::vector<std::uint8_t>& memory, std::size_t count) {
    if (!layout) return nb::none();
    const auto shape = batch_shape(count, layout->shape);
    if (bytes) return nb::cast(view_array(self, memory.data(), shape));
    return nb::cast(view_array(self, reinterpret_cast<float*>(memory.data()), shape));
}

std::string_view text_of(const nb::str& text) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data) return {data, std::size_t(size)};
    PyErr_Clear();
    throw FenError("bad FEN: the text is not valid Unicode");
}

const Games& require_games(const Games& games) {
    for (std::size_t i = 0; i < games.size(); ++i)
        if (!games[i])
            throw nb::type_error(("game " + std::to_string(i) + " is None, not a Game").c_str());
    return games;
}

std::vector<Position> parse_fens(const std::vector<std::string>& fens, BoardRules rules) {
    std::vector<Position> positions;
    for (const std::string& fen : fens) positions.push_back(parse_fen(fen, false, rules));
    return positions;
}

}  // namespace rookery::bind
