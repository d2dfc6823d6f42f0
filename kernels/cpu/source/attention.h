// Causal attention over a paged KV cache, read where it lies. Softmax runs along tiles of keys that begin at multiples
// of PANEL, so a row's result depends on nothing but its own keys: neither on its company nor on where chunks end.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "products.h"

struct Run {  // consecutive queries of one sequence
  int64_t row;        // of the first query in the step
  int64_t result;     // of its output
  int64_t count;
  int64_t position;   // of the first query in its sequence
  int64_t table;      // where the sequence's block ids begin in `blocks`
};

struct Shape {
  int64_t heads, kv_heads, head_dim, block_tokens;
  int64_t token_bytes;  // of one slot: all KV heads, K and V
  int64_t window;       // 0 = every earlier key
  float scale, softcap;  // softcap 0 = none
};

// Keys [first, first + PANEL) of a sequence. What lies beyond `visible` keys is zero: nobody may see another's NaN.
template <class Cache>
struct Slots {
  const Cache* rows[PANEL];
  Slots(const uint8_t* pool, const int64_t* blocks, long first, long visible, long kv_head, const Shape& shape) {
    for (int j = 0; j < PANEL; j++) {
      long key = first + j;
      long slot = key < visible ? blocks[key / shape.block_tokens] * shape.block_tokens + key % shape.block_tokens : -1;
      const uint8_t* start = pool + slot * shape.token_bytes + kv_head * 2 * shape.head_dim * sizeof(Cache);
      rows[j] = slot < 0 ? nullptr : (const Cache*)start;
    }
  }
};

template <class Unit, class Cache>
struct Pack;

// Keys as [head_dim][PANEL] floats, values as panels of [PANEL keys][PANEL columns].
template <class Cache>
struct Pack<FloatUnit, Cache> {
  static void keys(const Slots<Cache>& slots, int head_dim, float* target) {
    float row[LANES];
    for (int j = 0; j < PANEL; j++)
      for (int d = 0; d < head_dim; d += LANES) {
        store(row, slots.rows[j] ? load(slots.rows[j] + d) : Lanes{});
        for (int i = 0; i < LANES; i++) target[(d + i) * PANEL + j] = row[i];
      }
  }
  static void values(const Slots<Cache>& slots, int head_dim, float* target) {
    for (int j = 0; j < PANEL; j++)
      for (int d = 0; d < head_dim; d += LANES)
        store(target + (d / PANEL * PANEL + j) * PANEL + d % PANEL,
              slots.rows[j] ? load(slots.rows[j] + head_dim + d) : Lanes{});
  }
};

#if PAIRS
inline void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; i++) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; i++) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

template <>
struct Pack<PairUnit, bfloat16> {
  static void keys(const Slots<bfloat16>& slots, int head_dim, uint32_t* target) {
    for (int j = 0; j < PANEL; j += 16)
      for (int d = 0; d < head_dim; d += 32) {
        __mmask16 words = head_dim - d >= 32 ? 0xffff : 0x00ff;
        __m512i square[16];
        for (int i = 0; i < 16; i++)
          square[i] = slots.rows[j + i] ? _mm512_maskz_loadu_epi32(words, slots.rows[j + i] + d) : __m512i{};
        transpose(square);
        for (int i = 0; i < std::min(16, (head_dim - d) / 2); i++)
          _mm512_storeu_si512(target + (d / 2 + i) * PANEL + j, square[i]);
      }
  }
  // Key pairs of 16 columns beside each other.
  static void values(const Slots<bfloat16>& slots, int head_dim, uint32_t* target) {
    for (int j = 0; j < PANEL; j += 2)
      for (int d = 0; d < head_dim; d += LANES) {
        Halves zero{};
        Halves even = slots.rows[j] ? unaligned<Halves>(slots.rows[j] + head_dim + d) : zero;
        Halves odd = slots.rows[j + 1] ? unaligned<Halves>(slots.rows[j + 1] + head_dim + d) : zero;
        Ints both = __builtin_convertvector(even, Ints) | (__builtin_convertvector(odd, Ints) << 16);
        std::memcpy(target + (d / PANEL * PANEL / 2 + j / 2) * PANEL + d % PANEL, &both, sizeof both);
      }
  }
};
#endif

template <class Unit>
struct Scratch {
  using Word = typename Unit::Word;
  using Element = typename Unit::Element;
  std::vector<Word> keys, values;
  std::vector<Element> queries;
  std::vector<float> mixed, peak, total;
  void fit(long rows, long head_dim) {
    long columns = (head_dim + PANEL - 1) / PANEL * PANEL;
    keys.resize(head_dim / Unit::STEP * PANEL);
    values.resize(columns / Unit::STEP * PANEL);
    queries.resize(rows * head_dim);
    mixed.assign(rows * columns, 0.0f);
    peak.assign(rows, -std::numeric_limits<float>::infinity());
    total.assign(rows, 0.0f);
  }
};

// Scores of some rows' tiles -> weights; the rows' peaks and totals move on. `worth`: of each row's earlier sums now.
inline void soften(Lanes (&scores)[GROUP_ROWS][PANEL_LANES], int rows, float* peak, float* total, float* worth) {
  float before[LANES] = {}, base[LANES] = {};
  for (int r = 0; r < rows; r++) {
    Lanes* tile = scores[r];
    const float now = std::max(peak[r], largest(larger(larger(tile[0], tile[1]), larger(tile[2], tile[3]))));
    before[r] = peak[r];
    peak[r] = now;
    base[r] = std::isinf(now) ? 0.0f : now;
  }
  store(worth, exponential(load(before) - load(base)));
  for (int r = 0; r < rows; r++) {
    Lanes added{};
    for (int c = 0; c < PANEL_LANES; c++) {
      scores[r][c] = exponential(scores[r][c] - base[r]);
      added += scores[r][c];
    }
    total[r] = total[r] * worth[r] + sum(added);
  }
}

template <class Unit, class Activation, class Cache>
void attend_run(const Activation* queries, Activation* output, const uint8_t* pool, const int64_t* blocks,
                const Run& run, long kv_head, const Shape& shape, Scratch<Unit>& scratch) {
  using Word = typename Unit::Word;
  const long dim = shape.head_dim, shared = shape.heads / shape.kv_heads, rows = run.count * shared;
  const long columns = (dim + PANEL - 1) / PANEL * PANEL, words = dim / Unit::STEP;
  const long visible = run.position + run.count;
  scratch.fit(rows, dim);
  for (long r = 0; r < rows; r++) {
    const Activation* from =
        queries + ((run.row + r / shared) * shape.heads + kv_head * shared + r % shared) * dim;
    for (long d = 0; d < dim; d += LANES) store(scratch.queries.data() + r * dim + d, load(from + d));
  }
  const long earliest = shape.window ? std::max(0l, run.position - shape.window + 1) : 0;
  typename Unit::Element weights[GROUP_ROWS * PANEL];
  for (long first = earliest / PANEL * PANEL; first < visible; first += PANEL) {
    Slots<Cache> slots(pool, blocks + run.table, first, visible, kv_head, shape);
    Pack<Unit, Cache>::keys(slots, dim, scratch.keys.data());
    Pack<Unit, Cache>::values(slots, dim, scratch.values.data());
    // rows before this one see nothing of the tile
    long from = std::max(0l, first - run.position) * shared / GROUP_ROWS * GROUP_ROWS;
    for (long r = from; r < rows; r += GROUP_ROWS) {
      const int group = (int)std::min<long>(GROUP_ROWS, rows - r);
      const long low = run.position + r / shared, high = run.position + (r + group - 1) / shared;
      if (shape.window && low - shape.window >= first + PANEL) continue;
      Lanes scores[GROUP_ROWS][PANEL_LANES] = {};
      multiply_rows<Unit, PANEL_LANES>(group, (const Word*)scratch.queries.data() + r * words, words,
                                       scratch.keys.data(), words, scores);
      const bool hides = low < first + PANEL - 1 || (shape.window && high - shape.window >= first);
      for (int i = 0; i < group; i++) {
        const long position = run.position + (r + i) / shared;
        for (int c = 0; c < PANEL_LANES; c++) {
          scores[i][c] *= shape.scale;
          if (shape.softcap) {
            float part[LANES];
            store(part, scores[i][c]);
            for (float& score : part) score = std::tanh(score / shape.softcap) * shape.softcap;
            scores[i][c] = load(part);
          }
          if (hides) {
            Ints key = Ints{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} + (int)(first + c * LANES);
            Ints hidden = key > (int)position;
            if (shape.window) hidden |= key <= (int)(position - shape.window);
            scores[i][c] = hidden ? splat(-std::numeric_limits<float>::infinity()) : scores[i][c];
          }
        }
      }
      float worth[LANES];
      soften(scores, group, scratch.peak.data() + r, scratch.total.data() + r, worth);
      for (int i = 0; i < group; i++)
        for (int c = 0; c < PANEL_LANES; c++) store(weights + i * PANEL + c * LANES, scores[i][c]);
      for (long d = 0; d < columns; d += PANEL) {
        Lanes sums[GROUP_ROWS][PANEL_LANES];
        for (int i = 0; i < group; i++)
          for (int c = 0; c < PANEL_LANES; c++)
            sums[i][c] = load(scratch.mixed.data() + (r + i) * columns + d + c * LANES) * worth[i];
        multiply_rows<Unit, PANEL_LANES>(group, (const Word*)weights, PANEL / Unit::STEP,
                                         scratch.values.data() + d / Unit::STEP * PANEL, PANEL / Unit::STEP, sums);
        for (int i = 0; i < group; i++)
          for (int c = 0; c < PANEL_LANES; c++)
            store(scratch.mixed.data() + (r + i) * columns + d + c * LANES, sums[i][c]);
      }
    }
  }
  for (long r = 0; r < rows; r++) {
    Activation* to = output + ((run.result + r / shared) * shape.heads + kv_head * shared + r % shared) * dim;
    const float part = 1.0f / scratch.total[r];
    for (long d = 0; d < dim; d += LANES) store(to + d, load(scratch.mixed.data() + r * columns + d) * part);
  }
}
