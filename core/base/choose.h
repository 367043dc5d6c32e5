// Options given by name.

#pragma once

#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rookery {

// The index of a name as a T; throws std::invalid_argument with the option and its choices.
template <class T>
[[nodiscard]] T choose(std::string_view option, std::string_view name,
                       std::span<const std::string_view> names) {
    std::string known;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) return T(i);
        known += (i ? ", " : "") + std::string(names[i]);
    }
    throw std::invalid_argument(std::string(option) + " '" + std::string(name) +
                                "' is unknown; known are " + known);
}
template <class T>
[[nodiscard]] T choose(std::string_view option, std::string_view name,
                       std::initializer_list<std::string_view> names) {
    return choose<T>(option, name, std::span(names.begin(), names.size()));
}

}  // namespace rookery
