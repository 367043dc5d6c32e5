// Plain values as bytes, for states that are saved and restored by the same build. A checksum at
// the end detects damage.

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

// Trivially copyable values as their bytes; vectors and strings with their length before them.
class StateWriter {
  public:
    template <class... T> void put(const T&... values) { (append(values), ...); }
    [[nodiscard]] std::string finish();

  private:
    template <class T> void append(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    template <class T> void append(const std::vector<T>& values) {
        static_assert(std::is_trivially_copyable_v<T>);
        append(std::uint64_t(values.size()));
        if (!values.empty())
            bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    }
    void append(const std::string& text) {
        append(std::uint64_t(text.size()));
        bytes_ += text;
    }

    std::string bytes_;
};

// Every read throws std::invalid_argument if the bytes run out.
class StateReader {
  public:
    // Verifies the checksum.
    explicit StateReader(std::string_view bytes);
    // Reads what put() has written.
    template <class... T> void take(T&... values) { (read(values), ...); }
    template <class T> [[nodiscard]] T take() {
        T value;
        read(value);
        return value;
    }
    void require_end() const {
        if (at_ != bytes_.size()) throw damaged();
    }

  private:
    static std::invalid_argument damaged() {
        return std::invalid_argument("the saved state is damaged or cut short");
    }
    void copy(void* to, std::size_t size) {
        if (bytes_.size() - at_ < size) throw damaged();
        if (size) std::memcpy(to, bytes_.data() + at_, size);
        at_ += size;
    }
    template <class T> void read(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        copy(&value, sizeof value);
    }
    template <class T> void read_all(T& values) {
        const auto count = take<std::uint64_t>();
        if (count > (bytes_.size() - at_) / sizeof(values[0])) throw damaged();
        values.resize(count);
        copy(values.data(), count * sizeof(values[0]));
    }
    template <class T> void read(std::vector<T>& values) { read_all(values); }
    void read(std::string& text) { read_all(text); }

    std::string_view bytes_;
    std::size_t at_ = 0;
};

// FNV-1a by bytes, in older states of VectorGames.
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
