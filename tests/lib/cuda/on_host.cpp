// Runs cuda/kernels.cu on a processor: every CUDA thread is a thread of its own, and the 32 of a warp wait for one another
// where they exchange values. Slow, and its timing says nothing; what it computes is what the source says.
#include <barrier>
#include <cmath>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#define ON_HOST
#define __global__
#define __device__ static

struct uint4 { unsigned x, y, z, w; };
struct Place { int x; };
static thread_local Place threadIdx, blockIdx, blockDim;

struct Exchange {
    std::barrier<> meet{32};
    float values[32];
};
static thread_local Exchange* exchange;

static float __shfl_xor_sync(unsigned, float value, int far) {
    exchange->values[threadIdx.x % 32] = value;
    exchange->meet.arrive_and_wait();
    float other = exchange->values[(threadIdx.x % 32) ^ far];
    exchange->meet.arrive_and_wait();
    return other;
}

static float __uint_as_float(unsigned bits) {
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
}

static unsigned and_or(unsigned a, unsigned b, unsigned c) { return (a & b) | c; }

// Finite values only.
static float from_half(unsigned short bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float size = exponent ? std::ldexp(1024.f + mantissa, exponent - 25) : std::ldexp((float)mantissa, -24);
    return bits >> 15 ? -size : size;
}

// Rounded to the nearest, ties to even; what is too large for a half does not occur.
static unsigned short to_half(float value) {
    float size = std::fabs(value);
    int exponent = size < std::ldexp(1.f, -14) ? -14 : std::ilogb(size);
    int steps = (int)std::nearbyint(std::ldexp(size, 10 - exponent));
    return (std::signbit(value) ? 1 << 15 : 0) + ((exponent + 14) << 10) + steps;
}

#include KERNELS

template <class Kernel> static void launch(int blocks, int threads, Kernel kernel) {
    for (int block = 0; block < blocks; block++) {
        std::vector<std::unique_ptr<Exchange>> warps(threads / 32);
        for (auto& warp : warps) warp = std::make_unique<Exchange>();
        std::vector<std::thread> running;
        for (int thread = 0; thread < threads; thread++)
            running.emplace_back([&, thread] {
                threadIdx = {thread}, blockIdx = {block}, blockDim = {threads};
                exchange = warps[thread / 32].get();
                kernel();
            });
        for (auto& thread : running) thread.join();
    }
}

extern "C" void run_copy(int blocks, int threads, const uint4* source, uint4* target, long long pieces) {
    launch(blocks, threads, [&] { copy_kernel(source, target, pieces); });
}

extern "C" void run_gemv_w4a16(
    int blocks, int threads, const uint4* words, const half_bits* scales, const unsigned char* zero_points, const uint4* x,
    half_bits* y, int rows, int columns, int group) {
    launch(blocks, threads, [&] { gemv_w4a16_kernel(words, scales, zero_points, x, y, rows, columns, group); });
}
