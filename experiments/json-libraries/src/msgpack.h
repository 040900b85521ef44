// Writes MessagePack. Every library reads the JSON in its own way and writes with this code, so only the reading
// differs. Lengths of arrays and objects always take four bytes, because On-Demand knows them only at the end.
#ifndef FATHOM_EXPERIMENTS_JSON_MSGPACK_H
#define FATHOM_EXPERIMENTS_JSON_MSGPACK_H

#include <stdint.h>
#include <string.h>

#include <string_view>
#include <vector>

#include "task.h"

class MessagePack {
  public:
    // The output buffer; a text makes at most five bytes per byte of its own.
    void begin(size_t length) {
        if (bytes.size() < 5 * length + 16) bytes.resize(5 * length + 16);
        next = bytes.data();
        values = 0;
    }

    void null() { one(0xc0); }
    void boolean(bool value) { one(value ? 0xc3 : 0xc2); }

    void integer(int64_t value) {
        if (value >= 0) return natural((uint64_t)value);
        if (value >= -32) return one((uint8_t)value);
        if (value >= INT8_MIN) return tagged(0xd0, (uint64_t)value, 1);
        if (value >= INT16_MIN) return tagged(0xd1, (uint64_t)value, 2);
        if (value >= INT32_MIN) return tagged(0xd2, (uint64_t)value, 4);
        tagged(0xd3, (uint64_t)value, 8);
    }

    void natural(uint64_t value) {
        if (value < 128) return one((uint8_t)value);
        if (value <= UINT8_MAX) return tagged(0xcc, value, 1);
        if (value <= UINT16_MAX) return tagged(0xcd, value, 2);
        if (value <= UINT32_MAX) return tagged(0xce, value, 4);
        tagged(0xcf, value, 8);
    }

    void real(double value) {
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        tagged(0xcb, bits, 8);
    }

    void text(std::string_view text) {
        size_t length = text.size();
        if (length < 32) {
            one((uint8_t)(0xa0 | length));
        } else if (length <= UINT8_MAX) {
            tagged(0xd9, length, 1);
        } else if (length <= UINT16_MAX) {
            tagged(0xda, length, 2);
        } else {
            tagged(0xdb, length, 4);
        }
        memcpy(next, text.data(), length);
        next += length;
    }

    // Begins an array or an object. Pass the result to `end`, with the number of elements or members.
    size_t array() { return open(0xdd); }
    size_t object() { return open(0xdf); }
    void end(size_t place, uint32_t count) { big_endian(bytes.data() + place, count, 4); }

    std::string_view written() const {
        return next == nullptr ? std::string_view() : std::string_view((const char *)bytes.data(), next - bytes.data());
    }

    // The number of values written since `begin`, keys included.
    uint64_t values = 0;

  private:
    void one(uint8_t byte) {
        *next++ = byte;
        values++;
    }

    void tagged(uint8_t tag, uint64_t value, int size) {
        one(tag);
        big_endian(next, value, size);
        next += size;
    }

    size_t open(uint8_t tag) {
        one(tag);
        size_t place = next - bytes.data();
        next += 4;
        return place;
    }

    static void big_endian(uint8_t *to, uint64_t value, int size) {
        for (int i = 0; i < size; i++) to[i] = (uint8_t)(value >> 8 * (size - 1 - i));
    }

    std::vector<uint8_t> bytes;
    uint8_t *next = nullptr;
};

// The writer of all runs of the program, allocated once.
inline MessagePack packed;

// The number of values and bytes written. The sum of the bytes is computed after the measurement; it doesn't depend on
// the order of an object's members, which nlohmann's library sorts.
inline Answer packed_answer() {
    Answer answer;
    answer.count = packed.values;
    answer.numbers = packed.written().size();
    return answer;
}

#endif
