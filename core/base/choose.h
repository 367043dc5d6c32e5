// Options that are given by name.

#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rookery {

// The choice with this name; throws std::invalid_argument naming the option and all its choices.
template <class T>
[[nodiscard]] T choose(std::string_view option, std::string_view name,
                       std::initializer_list<std::pair<std::string_view, T>> choices) {
    std::string known;
    for (const auto& [known_name, value] : choices) {
        if (known_name == name) return value;
        known += (known.empty() ? "" : ", ") + std::string(known_name);
    }
    throw std::invalid_argument(std::string(option) + " '" + std::string(name) +
                                "' is unknown; known are " + known);
}

// The same for choices that are numbered in the order of their names.
template <class T, std::size_t N>
[[nodiscard]] T choose(std::string_view option, std::string_view name,
                       const std::string_view (&names)[N]) {
    std::string known;
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == name) return T(i);
        known += (i ? ", " : "") + std::string(names[i]);
    }
    throw std::invalid_argument(std::string(option) + " '" + std::string(name) +
                                "' is unknown; known are " + known);
}

}  // namespace rookery
