// Plain values as bytes, for states that are saved and restored by the same build.
// A state ends with a checksum of all before it: what the rules trust must not be damaged.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rookery {

class StateWriter {
  public:
    template <class T> void put(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class T> void put_all(const std::vector<T>& values) {
        static_assert(std::is_trivially_copyable_v<T>);
        put(std::uint64_t(values.size()));
        if (!values.empty())
            bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    }
    void put_text(std::string_view text) {
        put(std::uint64_t(text.size()));
        bytes_.append(text);
    }
    [[nodiscard]] std::string finish();

  private:
    std::string bytes_;
};

// Every read throws std::invalid_argument if the bytes run out.
class StateReader {
  public:
    // Checks the checksum first.
    explicit StateReader(std::string_view bytes);
    template <class T> T take() {
        static_assert(std::is_trivially_copyable_v<T>);
        require(sizeof(T));
        T value;
        std::memcpy(&value, bytes_.data() + at_, sizeof value);
        at_ += sizeof value;
        return value;
    }
    // Keeps the capacity that the vector has.
    template <class T> void take_all(std::vector<T>& values) {
        const auto count = take<std::uint64_t>();
        if (count > (bytes_.size() - at_) / sizeof(T)) throw damaged();
        values.resize(count);
        if (count) std::memcpy(values.data(), bytes_.data() + at_, count * sizeof(T));
        at_ += count * sizeof(T);
    }
    std::string take_text() {
        const auto count = take<std::uint64_t>();
        require(count);
        std::string text(bytes_.substr(at_, count));
        at_ += count;
        return text;
    }
    void require_end() const {
        if (at_ != bytes_.size()) throw damaged();
    }

  private:
    static std::invalid_argument damaged() {
        return std::invalid_argument("the saved state is damaged or cut short");
    }
    void require(std::uint64_t size) const {
        if (bytes_.size() - at_ < size) throw damaged();
    }
    std::string_view bytes_;
    std::size_t at_ = 0;
};

// FNV-1a, byte by byte: what VectorGames used to write.
[[nodiscard]] inline std::uint64_t old_state_checksum(std::string_view bytes) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (const char byte : bytes) hash = (hash ^ std::uint8_t(byte)) * 0x100000001B3ULL;
    return hash;
}

// FNV-1a over words of eight bytes.
[[nodiscard]] inline std::uint64_t state_checksum(std::string_view bytes) {
    std::uint64_t hash = 0xCBF29CE484222325ULL;
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
        hash = (hash ^ word) * 0x100000001B3ULL;
        hash ^= hash >> 32;
    }
    return hash;
}

inline std::string StateWriter::finish() {
    put(state_checksum(bytes_));
    return std::move(bytes_);
}

inline StateReader::StateReader(std::string_view bytes) : bytes_(bytes) {
    if (bytes.size() < sizeof(std::uint64_t)) throw damaged();
    bytes_ = bytes.substr(0, bytes.size() - sizeof(std::uint64_t));
    std::uint64_t stored;
    std::memcpy(&stored, bytes.data() + bytes_.size(), sizeof stored);
    if (stored != state_checksum(bytes_) && stored != old_state_checksum(bytes_)) throw damaged();
}

}  // namespace rookery
