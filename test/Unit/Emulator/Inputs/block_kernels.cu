#define G extern "C" __attribute__((global))
#define S __attribute__((shared))
#define D __attribute__((device)) static inline __attribute__((always_inline))
typedef unsigned u32;
D u32 tid() { return __nvvm_read_ptx_sreg_tid_x(); }
D u32 bid() { return __nvvm_read_ptx_sreg_ctaid_x(); }
D u32 bidy() { return __nvvm_read_ptx_sreg_ctaid_y(); }
D u32 ntid() { return __nvvm_read_ptx_sreg_ntid_x(); }
D float down(float v, int d) { return __nvvm_shfl_sync_down_f32(0xffffffffu, v, d, 0x1f); }

G void reduce(const float *in, float *out, int n) {
  S static float w[32];
  float s = 0;
  for (u32 i = bid() * ntid() + tid(); i < (u32)n; i += ntid() * __nvvm_read_ptx_sreg_nctaid_x()) s += in[i];
  for (int d = 16; d; d >>= 1) s += down(s, d);
  if ((tid() & 31) == 0) w[tid() >> 5] = s;
  __syncthreads();
  if (tid() < 32) {
    s = tid() < ntid() / 32 ? w[tid()] : 0;
    for (int d = 16; d; d >>= 1) s += down(s, d);
    if (tid() == 0) out[bid()] = s;
  }
}
// 32 x 32 tiles through shared memory, 256 threads
G void transpose(const float *in, float *out, int rows, int columns) {
  S static float tile[32][33];
  int x = tid() & 31, y = tid() >> 5;
  for (int j = 0; j < 32; j += 8) tile[y + j][x] = in[(bidy() * 32 + y + j) * columns + bid() * 32 + x];
  __syncthreads();
  for (int j = 0; j < 32; j += 8) out[(bid() * 32 + y + j) * rows + bidy() * 32 + x] = tile[x][y + j];
}
G void manybar(float *out, int n) { for (int i = 0; i < n; i++) __syncthreads(); out[tid()] = n; }
