/* Read, write, copy and triad in plain C: what torch's figures are held against.
 *
 * The four are those of McCalpin's STREAM (and reading alone, which it leaves out), written anew as functions over a part
 * of a buffer, so that one timer and one rotating window serve both sides. Ordinary loops that the compiler vectorises;
 * built with -fno-tree-loop-distribute-patterns, or it would put memcpy in the place of the copy.
 */
#include <stddef.h>

float stream_read(const float *restrict x, size_t n) {
    float sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

void stream_write(float *restrict x, size_t n, float value) {
    for (size_t i = 0; i < n; i++)
        x[i] = value;
}

void stream_copy(const float *restrict source, float *restrict target, size_t n) {
    for (size_t i = 0; i < n; i++)
        target[i] = source[i];
}

void stream_triad(const float *restrict b, const float *restrict c, float *restrict a, size_t n, float scalar) {
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + scalar * c[i];
}
