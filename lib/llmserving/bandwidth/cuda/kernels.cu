// The copy and the fused W4A16 GEMV in plain CUDA C++: what Triton arranges by itself is written out here.
//
// A *thread* does one small thing; 32 of them, a warp, do it in step. Addresses are the thread's own business: here each
// loads 16 bytes at once (uint4), and the 32 threads of a warp 512 neighbouring ones.

#ifndef ON_HOST  // a test gives these three in C++, and runs the rest on a processor
__device__ float from_half(unsigned short bits) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
}

__device__ unsigned short to_half(float value) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
    return bits;
}

// (a & b) | c in one instruction. The compiler takes two where both b and c are constants.
__device__ unsigned and_or(unsigned a, unsigned b, unsigned c) {
    unsigned result;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
}
#endif

typedef unsigned short half_bits;

constexpr int WARP = 32;
constexpr int PIECES = 4;  // 16-byte pieces a thread has on their way before it waits for the first
constexpr int ROWS = 4;    // rows of the matrix that a warp works on at once, so that x is loaded once for four

// target[i] = source[i] for `pieces` pieces of 16 bytes. A block of threads moves PIECES for each of its threads.
extern "C" __global__ void copy_kernel(const uint4* __restrict__ source, uint4* __restrict__ target, long long pieces) {
    long long first = (long long)blockIdx.x * blockDim.x * PIECES + threadIdx.x;
    uint4 held[PIECES];
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        long long i = first + k * blockDim.x;
        if (i < pieces) held[k] = source[i];
    }
#pragma unroll
    for (int k = 0; k < PIECES; k++) {
        long long i = first + k * blockDim.x;
        if (i < pieces) target[i] = held[k];
    }
}

// code - zero of the code at bits 4 * place (0 to 3), without converting an integer: put into the empty mantissa of
// 2^(23 - 4 * place), where its lowest bit counts 1, it adds itself.
__device__ float distance(unsigned word, float zero, int place) {
    float power = (float)(1 << (23 - 4 * place));
    return __uint_as_float(and_or(word, 15u << (4 * place), (150u - 4 * place) << 23)) - (power + zero);
}

// The sum of eight codes' products with eight activations, two in each word of `x`.
__device__ float eight(unsigned word, float zero, uint4 x) {
    const unsigned pairs[4] = {x.x, x.y, x.z, x.w};
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        half_bits activation = pairs[k / 2] >> (16 * (k % 2));
        sum += distance(k < 4 ? word : word >> 16, zero, k % 4) * from_half(activation);
    }
    return sum;
}

// y[row] = sum over groups of scale * (sum over the group of (code - zero_point) * x), ROWS rows a warp.
// words [rows, columns / 32] of 32 codes, 16 bytes; scales [rows, groups]; zero_points two a byte, row after row, the
// first in the low bits; x [columns / 8] of eight halves. A group is a multiple of 32 columns, so that a load lies in one.
extern "C" __global__ void gemv_w4a16_kernel(
    const uint4* __restrict__ words, const half_bits* __restrict__ scales, const unsigned char* __restrict__ zero_points,
    const uint4* __restrict__ x, half_bits* __restrict__ y, int rows, int columns, int group) {
    int lane = threadIdx.x % WARP;
    long long first = ((long long)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP) * ROWS;
    int loads = columns / 32, groups = columns / group;
    float total[ROWS] = {};
    for (int load = lane; load < loads; load += WARP) {
        uint4 held[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (first + r < rows) held[r] = words[(first + r) * loads + load];
        uint4 xs[4] = {x[4 * load], x[4 * load + 1], x[4 * load + 2], x[4 * load + 3]};
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (first + r >= rows) continue;
            long long place = (first + r) * groups + load * 32 / group;
            float zero = (float)((zero_points[place / 2] >> (4 * (place % 2))) & 15);
            float sum = eight(held[r].x, zero, xs[0]) + eight(held[r].y, zero, xs[1]) + eight(held[r].z, zero, xs[2]) +
                        eight(held[r].w, zero, xs[3]);
            total[r] += from_half(scales[place]) * sum;
        }
    }
    // Each thread has a part of each row's sum: in five steps, all add what the thread 16, 8, 4, 2 and 1 further has.
#pragma unroll
    for (int r = 0; r < ROWS; r++)
        for (int far = WARP / 2; far > 0; far /= 2) total[r] += __shfl_xor_sync(0xffffffff, total[r], far);
    if (lane < ROWS && first + lane < rows) {
        float mine = 0;
#pragma unroll
        for (int r = 0; r < ROWS; r++)
            if (lane == r) mine = total[r];
        y[first + lane] = to_half(mine);
    }
}
