// What happens to every token by itself between the matrix products: normalisation, gated activation, heads.
#include <cmath>

#include "lanes.h"

// Below this many elements a second thread costs more than it brings.
constexpr long ALONE = 32768;
constexpr long WIDEST_HEAD = 512;

template <class T>
static float root_mean_square(const T* row, long width, float eps) {
  Lanes squares{};
  for (long i = 0; i < width; i += LANES) {
    Lanes value = load(row + i);
    squares += value * value;
  }
  return 1.0f / std::sqrt(sum(squares) / width + eps);
}

// normed = hidden / rms(hidden) * weight. With `delta`, hidden += delta first, rounded to its own format.
template <class T>
static void rms_norm(T* hidden, const T* delta, T* normed, const float* weight, long rows, long width, float eps) {
#pragma omp parallel for if (rows * width > ALONE)
  for (long r = 0; r < rows; r++) {
    T* row = hidden + r * width;
    if (delta)
      for (long i = 0; i < width; i += LANES) store(row + i, load(row + i) + load(delta + r * width + i));
    const float scale = root_mean_square(row, width, eps);
    for (long i = 0; i < width; i += LANES)
      store(normed + r * width + i, load(row + i) * scale * load(weight + i));
  }
}

// 1 / (1 + e^-x)
static inline Lanes logistic(Lanes x) {
  Lanes bounded = larger(splat(-86.0f), -larger(x, splat(-86.0f)));
  return 1.0f / (1.0f + exponential(bounded));
}

static inline Lanes silu(Lanes x) { return x * logistic(x); }

// 0.5 x (1 + tanh(u)) = x / (1 + e^(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3)
static inline Lanes gelu_tanh(Lanes x) { return x * logistic(x * (1.0f + 0.044715f * x * x) * 1.59576912f); }

// gated = activation(first half of a row) * second half
template <class T, Lanes (*ACTIVATION)(Lanes)>
static void gate(const T* both, T* gated, long rows, long width) {
#pragma omp parallel for if (rows * width > ALONE)
  for (long r = 0; r < rows; r++) {
    const T* row = both + r * 2 * width;
    for (long i = 0; i < width; i += LANES)
      store(gated + r * width + i, ACTIVATION(load(row + i)) * load(row + width + i));
  }
}

struct Heads {
  int64_t tokens, heads, kv_heads, head_dim;
  int64_t turn_stride;  // floats from one token's cosines or sines to the next one's
  int64_t token_bytes;  // of one slot: all KV heads, K and V
  float eps;
};

// One head: normalised where `weight` is given, turned where `cosine` is; `sine` is negative in its first half.
template <class From, class To>
static inline void turn(const From* head, To* target, const float* weight, const float* cosine, const float* sine,
                        long dim, float eps) {
  float row[WIDEST_HEAD], rolled[WIDEST_HEAD];
  const float scale = weight ? root_mean_square(head, dim, eps) : 1.0f;
  for (long d = 0; d < dim; d += LANES) store(row + d, weight ? load(head + d) * scale * load(weight + d) : load(head + d));
  std::memcpy(rolled, row + dim / 2, dim / 2 * sizeof(float));
  std::memcpy(rolled + dim / 2, row, dim / 2 * sizeof(float));
  for (long d = 0; d < dim; d += LANES)
    store(target + d, load(row + d) * load(cosine + d) + load(rolled + d) * load(sine + d));
}

// Rows of qkv -> turned queries; turned keys, and values, to their slots of the paged cache.
template <class T, class Cache>
static void place(const T* qkv, T* queries, uint8_t* pool, const int64_t* slots, const float* cosine,
                  const float* sine, const float* query_weight, const float* key_weight, const Heads& shape) {
  const long dim = shape.head_dim, width = (shape.heads + 2 * shape.kv_heads) * dim;
#pragma omp parallel for if (shape.tokens * width > ALONE)
  for (long t = 0; t < shape.tokens; t++) {
    const T* row = qkv + t * width;
    const float *cosines = cosine + t * shape.turn_stride, *sines = sine + t * shape.turn_stride;
    for (long h = 0; h < shape.heads; h++)
      turn(row + h * dim, queries + (t * shape.heads + h) * dim, query_weight, cosines, sines, dim, shape.eps);
    Cache* slot = (Cache*)(pool + slots[t] * shape.token_bytes);
    for (long h = 0; h < shape.kv_heads; h++) {
      Cache* target = slot + h * 2 * dim;
      turn(row + (shape.heads + h) * dim, target, key_weight, cosines, sines, dim, shape.eps);
      const T* value = row + (shape.heads + shape.kv_heads + h) * dim;
      for (long d = 0; d < dim; d += LANES) store(target + dim + d, load(value + d));
    }
  }
}

#define ROWS(T, NAME)                                                                                              \
  extern "C" void rms_norm_##NAME(void* hidden, const void* delta, void* normed, const float* weight, long rows,   \
                                  long width, float eps) {                                                         \
    rms_norm((T*)hidden, (const T*)delta, (T*)normed, weight, rows, width, eps);                                   \
  }                                                                                                                \
  extern "C" void silu_##NAME(const void* both, void* gated, long rows, long width) {                              \
    gate<T, silu>((const T*)both, (T*)gated, rows, width);                                                         \
  }                                                                                                                \
  extern "C" void gelu_tanh_##NAME(const void* both, void* gated, long rows, long width) {                         \
    gate<T, gelu_tanh>((const T*)both, (T*)gated, rows, width);                                                    \
  }                                                                                                                \
  PLACE(T, NAME, bfloat16, bfloat16)                                                                               \
  PLACE(T, NAME, float16, float16)                                                                                 \
  PLACE(T, NAME, float, float32)

#define PLACE(T, NAME, CACHE, CACHE_NAME)                                                                          \
  extern "C" void place_##NAME##_##CACHE_NAME(const void* qkv, void* queries, void* pool, const int64_t* slots,    \
                                              const float* cosine, const float* sine, const float* query_weight,   \
                                              const float* key_weight, const Heads* shape) {                       \
    place<T, CACHE>((const T*)qkv, (T*)queries, (uint8_t*)pool, slots, cosine, sine, query_weight, key_weight,     \
                    *shape);                                                                                       \
  }

ROWS(bfloat16, bfloat16)
ROWS(float16, float16)
ROWS(float, float32)
