#include "attention.h"

// Below this many multiplications a second thread costs more than it brings.
constexpr long ALONE = 200000;

template <class Unit, class Activation, class Cache>
static void attend(const void* queries, void* output, const uint8_t* pool, const int64_t* blocks, const Run* runs,
                   long count, long work, const Shape& shape) {
  const long tasks = count * shape.kv_heads;
#pragma omp parallel if (tasks > 1 && work > ALONE)
  {
    static thread_local Scratch<Unit> scratch;
#pragma omp for schedule(dynamic, 1)
    for (long task = 0; task < tasks; task++)
      attend_run<Unit, Activation, Cache>((const Activation*)queries, (Activation*)output, pool, blocks,
                                          runs[task / shape.kv_heads], task % shape.kv_heads, shape, scratch);
  }
}

#define ATTEND(NAME, UNIT, ACTIVATION, CACHE)                                                                       \
  extern "C" void NAME(const void* queries, void* output, const uint8_t* pool, const int64_t* blocks, const Run* runs, \
                       long count, long work, const Shape* shape) {                                                  \
    attend<UNIT, ACTIVATION, CACHE>(queries, output, pool, blocks, runs, count, work, *shape);                       \
  }

#if PAIRS
using Exact = PairUnit;
#else
using Exact = FloatUnit;
#endif

ATTEND(attend_bfloat16_bfloat16, Exact, bfloat16, bfloat16)
ATTEND(attend_bfloat16_float16, FloatUnit, bfloat16, float16)
ATTEND(attend_bfloat16_float32, FloatUnit, bfloat16, float)
ATTEND(attend_float16_bfloat16, FloatUnit, float16, bfloat16)
ATTEND(attend_float16_float16, FloatUnit, float16, float16)
ATTEND(attend_float16_float32, FloatUnit, float16, float)
ATTEND(attend_float32_bfloat16, FloatUnit, float, bfloat16)
ATTEND(attend_float32_float16, FloatUnit, float, float16)
ATTEND(attend_float32_float32, FloatUnit, float, float)
