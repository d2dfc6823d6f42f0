// Small dense products C[R, N] = A[R, K] B[K, N] on packed panels of B, summed in float32 over k in order.
#pragma once

#include "lanes.h"

constexpr int GROUP_ROWS = 6;    // rows of A whose sums stay in registers
constexpr int PANEL_LANES = 4;   // vectors of columns beside them
constexpr int PANEL = PANEL_LANES * LANES;

#if defined(__AVX512BF16__)
#define PAIRS 1
// Two neighbouring k in one 32-bit word, as the dot-product instruction wants them.
struct PairUnit {
  using Word = uint32_t;
  using Element = bfloat16;
  static constexpr int STEP = 2;
  static inline Lanes step(Lanes sum, Word a, const Word* b) {
    __m512i row = unaligned<__m512i>(b);
    return (Lanes)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_epi32(a), (__m512bh)row);
  }
};
#endif

struct FloatUnit {
  using Word = float;
  using Element = float;
  static constexpr int STEP = 1;
  static inline Lanes step(Lanes sum, Word a, const Word* b) { return sum + a * unaligned<Lanes>(b); }
};

// sums[r][c] += A's rows times a panel; `words` = K / Unit::STEP; rows of A lie `stride` words apart, rows of B PANEL.
template <class Unit, int ROWS, int COLUMNS>
inline void multiply(const typename Unit::Word* a, long stride, const typename Unit::Word* b, int words,
                     Lanes (&sums)[GROUP_ROWS][PANEL_LANES]) {
  Lanes local[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) local[r][c] = sums[r][c];
  for (int k = 0; k < words; k++)
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 4
      for (int c = 0; c < COLUMNS; c++)
        local[r][c] = Unit::step(local[r][c], a[r * stride + k], b + k * PANEL + c * LANES);
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) sums[r][c] = local[r][c];
}

template <class Unit, int COLUMNS>
inline void multiply_rows(int rows, const typename Unit::Word* a, long stride, const typename Unit::Word* b, int words,
                          Lanes (&sums)[GROUP_ROWS][PANEL_LANES]) {
  switch (rows) {
    case 1: return multiply<Unit, 1, COLUMNS>(a, stride, b, words, sums);
    case 2: return multiply<Unit, 2, COLUMNS>(a, stride, b, words, sums);
    case 3: return multiply<Unit, 3, COLUMNS>(a, stride, b, words, sums);
    case 4: return multiply<Unit, 4, COLUMNS>(a, stride, b, words, sums);
    case 5: return multiply<Unit, 5, COLUMNS>(a, stride, b, words, sums);
    default: return multiply<Unit, 6, COLUMNS>(a, stride, b, words, sums);
  }
}
