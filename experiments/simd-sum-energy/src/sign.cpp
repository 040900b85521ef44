// Replacements for the instruction psignb, which AVX-512 lacks: each byte of `values` is kept, negated or zeroed if the
// byte of `signs` is positive, negative or zero. The instructions are counted in the compiled functions.
//
// Usage: sign   (checks both forms if the processor has AVX-512, and prints a message if it hasn't)
#include <immintrin.h>

#include "measure.h"

extern "C" {
// The instruction itself, on 32 bytes.
__m256i sign_avx2(__m256i values, __m256i signs) { return _mm256_sign_epi8(values, signs); }

// Everything that psignb does, on 64 bytes: one mask of the negative and one of the non-zero signs.
__m512i sign_full(__m512i values, __m512i signs, __m512i zero) {
    __mmask64 negative = _mm512_movepi8_mask(signs), present = _mm512_test_epi8_mask(signs, signs);
    __m512i kept = _mm512_maskz_mov_epi8(present, values);
    return _mm512_mask_sub_epi8(kept, negative, zero, kept);
}

// Sufficient if no sign is zero.
__m512i sign_nonzero(__m512i values, __m512i signs, __m512i zero) {
    return _mm512_mask_sub_epi8(values, _mm512_movepi8_mask(signs), zero, values);
}
}

static void check_signs() {
    int8_t values[64], signs[64], full[64], nonzero[64];
    for (int i = 0; i < 64; i++) {
        values[i] = (int8_t)(i * 5 - 100);
        signs[i] = (int8_t)(i % 3 - 1);
    }
    __m512i v = _mm512_loadu_si512(values), s = _mm512_loadu_si512(signs), zero = _mm512_setzero_si512();
    _mm512_storeu_si512(full, sign_full(v, s, zero));
    _mm512_storeu_si512(nonzero, sign_nonzero(v, s, zero));
    for (int i = 0; i < 64; i++) {
        check(full[i] == values[i] * signs[i], "the full form");
        check(signs[i] == 0 || nonzero[i] == full[i], "the short form");
    }
}

int main() {
    if (__builtin_cpu_supports("avx512bw")) {
        check_signs();
        puts("checked on this processor");
    } else {
        puts("not checked: this processor has no AVX-512");
    }
}
