// Products with weights: output[T, N] = input[T, K] weight[N, K]^T + bias, summed in float32 over k in order, so that a
// row's result does not depend on how many others there are.
#include <algorithm>

#include "products.h"

// Rows that pass over a panel of weights before the next panel: their inputs stay near the processor.
constexpr long BLOCK_ROWS = 16 * GROUP_ROWS;
// Below this many multiplications a second thread costs more than it brings.
constexpr long ALONE = 100000;

static long panels_of(long columns) { return (columns + PANEL - 1) / PANEL; }

// weight [N, K] -> panels of [K / STEP][PANEL] words; missing columns are zero.
template <class Unit>
static void pack(const typename Unit::Element* weight, typename Unit::Word* packed, long columns, long inner) {
  using Word = typename Unit::Word;
  const long words = inner / Unit::STEP;
#pragma omp parallel for
  for (long p = 0; p < panels_of(columns); p++)
    for (long c = 0; c < PANEL; c++) {
      const long column = p * PANEL + c;
      const Word* row = (const Word*)(weight + column * inner);
      for (long k = 0; k < words; k++) packed[(p * words + k) * PANEL + c] = column < columns ? row[k] : Word{};
    }
}

// One vector of a row, at `column`. Only the matrix's last columns are written one by one: small copies right behind a
// store make the processor wait for it, which halved the speed of a product.
template <class Unit>
static inline void put(typename Unit::Element* row, Lanes sum, const typename Unit::Element* bias, long column, long width) {
  const long count = width - column;
  if (count >= LANES) return store(row + column, bias ? sum + load(bias + column) : sum);
  typename Unit::Element part[LANES] = {};
  if (bias) {
    std::copy_n(bias + column, count, part);
    sum += load(part);
  }
  store(part, sum);
  std::copy_n(part, count, row + column);
}

template <class Unit>
static void tile(const typename Unit::Element* input, const typename Unit::Word* panel,
                 const typename Unit::Element* bias, typename Unit::Element* output, long rows, long inner, long stride, long width) {
  using Word = typename Unit::Word;
  const long words = inner / Unit::STEP;
  const long groups = (rows + GROUP_ROWS - 1) / GROUP_ROWS;
  for (long g = 0, r = 0; g < groups; g++) {
    const int group = (int)((rows - r + groups - g - 1) / (groups - g));  // as even as can be
    Lanes sums[GROUP_ROWS][PANEL_LANES] = {};
    multiply_rows<Unit, PANEL_LANES>(group, (const Word*)(input + r * inner), words, panel, words, sums);
    for (int i = 0; i < group; i++) {
      typename Unit::Element* target = output + (r + i) * stride;
      for (int c = 0; c * LANES < width; c++) put<Unit>(target, sums[i][c], bias, c * LANES, width);
    }
    r += group;
  }
}

template <class Unit>
static void linear(const typename Unit::Element* input, const typename Unit::Word* packed,
                   const typename Unit::Element* bias, typename Unit::Element* output, long rows, long inner, long columns) {
  const long panels = panels_of(columns), blocks = (rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
#pragma omp parallel for collapse(2) schedule(dynamic, 1) if (rows * inner * columns > ALONE)
  for (long b = 0; b < blocks; b++)
    for (long p = 0; p < panels; p++) {
      const long first = b * BLOCK_ROWS, column = p * PANEL;
      tile<Unit>(input + first * inner, packed + p * (inner / Unit::STEP) * PANEL, bias ? bias + column : nullptr,
                 output + first * columns + column, std::min(BLOCK_ROWS, rows - first), inner, columns,
                 std::min<long>(PANEL, columns - column));
    }
}

#define LINEAR(UNIT, NAME)                                                                                          \
  extern "C" void pack_##NAME(const void* weight, void* packed, long columns, long inner) {                         \
    pack<UNIT>((const UNIT::Element*)weight, (UNIT::Word*)packed, columns, inner);                                  \
  }                                                                                                                 \
  extern "C" void linear_##NAME(const void* input, const void* packed, const void* bias, void* output, long rows,   \
                                long inner, long columns) {                                                         \
    linear<UNIT>((const UNIT::Element*)input, (const UNIT::Word*)packed, (const UNIT::Element*)bias,                \
                 (UNIT::Element*)output, rows, inner, columns);                                                     \
  }

// Only where they are at least as fast as oneDNN's: narrower vectors are its business.
#if defined(__AVX512F__)
LINEAR(FloatUnit, float32)
#endif
#if PAIRS
LINEAR(PairUnit, bfloat16)
#endif
