// What the kernels have in common. compile.c has NVRTC compile them for one model, with
//   GESS__LANE_DIM, GESS__LANE_OUTER, GESS__LANE_COMPONENTS, GESS__LANE_MAP and GESS__LANE_BOUNDS (0 or 1)   its shape
//   GESS__BLOCK   threads per block
#define GESS__LANES 1
#define GESS__LANE_DIM_OF(f) ((f)->dim)
#define GESS__LANE_OUTER_OF(f) ((size_t)GESS__LANE_OUTER)
#if GESS__LANE_COMPONENTS == 1
#define GESS__LANE_COMPONENTS_OF(f) ((size_t)1)
#else
#define GESS__LANE_COMPONENTS_OF(f) ((f)->components)
#endif
#define GESS__LANE_HAS_MAP(f) GESS__LANE_MAP
#define GESS__LANE_HAS_BOUNDS(f) GESS__LANE_BOUNDS
#define GESS__LANE_COUNT(counts, bin) atomicAdd((unsigned long long *)&(counts)[bin], 1ull)
