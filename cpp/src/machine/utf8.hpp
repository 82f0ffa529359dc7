// What is UTF-8 text.
#pragma once

#include <cstddef>
#include <string_view>

namespace mopsus {

// As Python's decoder sees it: no overlong forms, no surrogates, nothing beyond U+10FFFF.
inline bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = [&](std::size_t k) {
            return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : 0U;
        };
        const auto follows = [&](std::size_t k, unsigned low = 0x80, unsigned high = 0xBF) {
            return byte(k) >= low && byte(k) <= high;
        };
        const unsigned lead = byte(0);
        if (lead < 0x80) {
            ++at;
        } else if (lead >= 0xC2 && lead <= 0xDF && follows(1)) {
            at += 2;
        } else if (lead >= 0xE0 && lead <= 0xEF && follows(1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) &&
                   follows(2)) {
            at += 3;
        } else if (lead >= 0xF0 && lead <= 0xF4 && follows(1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) &&
                   follows(2) && follows(3)) {
            at += 4;
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace mopsus
