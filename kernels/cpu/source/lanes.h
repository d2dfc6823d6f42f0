// Sixteen float lanes, and the number formats of weights, activations and KV caches at their border.
#pragma once

#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef float Lanes __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));
typedef uint16_t Halves __attribute__((vector_size(32)));

constexpr int LANES = 16;

struct bfloat16 {
  uint16_t bits;
};
struct float16 {
  uint16_t bits;
};

inline Lanes splat(float value) { return value - Lanes{}; }

template <class T>
inline T unaligned(const void* source) {
  T value;
  std::memcpy(&value, source, sizeof(T));
  return value;
}

inline Lanes load(const float* source) { return unaligned<Lanes>(source); }

inline Lanes load(const bfloat16* source) {
  Ints wide = __builtin_convertvector(unaligned<Halves>(source), Ints);
  return (Lanes)(wide << 16);
}

inline Lanes load(const float16* source) {
#if defined(__AVX512F__)
  return (Lanes)_mm512_cvtph_ps(unaligned<__m256i>(source));
#else
  Lanes result;
  for (int i = 0; i < LANES; i++) {
    _Float16 half;
    std::memcpy(&half, source + i, 2);
    result[i] = (float)half;
  }
  return result;
#endif
}

inline void store(float* target, Lanes value) { std::memcpy(target, &value, sizeof value); }

// Rounds to nearest, ties to even; NaN stays NaN.
inline void store(bfloat16* target, Lanes value) {
#if defined(__AVX512BF16__)
  __m256bh rounded = _mm512_cvtneps_pbh((__m512)value);
  std::memcpy(target, &rounded, sizeof rounded);
#else
  Ints bits = (Ints)value;
  Ints nearest = bits + 0x7fff + ((bits >> 16) & 1);
  Ints chosen = value == value ? nearest : (bits | 0x400000);
  Halves result = __builtin_convertvector((chosen >> 16) & 0xffff, Halves);
  std::memcpy(target, &result, sizeof result);
#endif
}

inline void store(float16* target, Lanes value) {
#if defined(__AVX512F__)
  __m256i half = _mm512_cvtps_ph((__m512)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  std::memcpy(target, &half, sizeof half);
#else
  for (int i = 0; i < LANES; i++) {
    _Float16 half = (_Float16)value[i];
    std::memcpy(target + i, &half, 2);
  }
#endif
}

inline Lanes larger(Lanes a, Lanes b) { return a > b ? a : b; }

// The upper half of the first 2 * WIDTH lanes, moved down.
template <int WIDTH>
inline Lanes upper(Lanes value) {
  const Ints index = Ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + WIDTH;
  return __builtin_shuffle(value, index & 15);
}

inline float largest(Lanes value) {
  value = larger(value, upper<8>(value));
  value = larger(value, upper<4>(value));
  value = larger(value, upper<2>(value));
  return larger(value, upper<1>(value))[0];
}

// In a fixed order: halves are added to halves.
inline float sum(Lanes value) {
  value += upper<8>(value);
  value += upper<4>(value);
  value += upper<2>(value);
  return (value + upper<1>(value))[0];
}

// e^x for x <= 88, relative error below 2e-7; exactly 0 below -87, so that what is hidden weighs nothing.
inline Lanes exponential(Lanes x) {
  Lanes scaled = larger(x, splat(-87.0f)) * 1.44269504f;
  const float magic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  Lanes shifted = scaled + magic;
  Lanes fraction = scaled - (shifted - magic);
  Lanes power = splat(1.53533619e-4f);
  power = power * fraction + 1.33988744e-3f;
  power = power * fraction + 9.61843736e-3f;
  power = power * fraction + 5.55033177e-2f;
  power = power * fraction + 2.40226477e-1f;
  power = power * fraction + 6.93147182e-1f;
  power = power * fraction + 1.0f;
  Ints exponent = ((Ints)shifted - 0x4b400000) << 23;
  Lanes result = (Lanes)((Ints)power + exponent);
  return x < -87.0f ? splat(0.0f) : result;
}
