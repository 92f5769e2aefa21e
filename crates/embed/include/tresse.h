/* Tresse in a C or C++ program: a network in simulated time that carries the program's messages.
 *
 * What a simulator of training jobs needs of a network: send, hear of the arrival, be woken at a time, know the time.
 * Time is in picoseconds. A simulation is used by one thread at a time; several simulations do not know each other.
 * Link with -ltresse_embed. */
#ifndef TRESSE_H
#define TRESSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tresse_simulation tresse_simulation;

/* Called by tresse_run when a message has arrived or a time has come, with what tresse_send or tresse_at was given. It
 * may call tresse_send, tresse_at, tresse_now and tresse_error, and nothing else. It must not throw. */
typedef void (*tresse_callback)(tresse_simulation *simulation, void *argument);

/* Opens the network of an experiment: a built-in one such as "xmp/table1", or a file with [fabric], [transport] and a
 * scheme; its workloads are not used. `options` ends with NULL, or is NULL: the options of `tresse run` --only, --set,
 * --fidelity, --profile, --seed and --threads, each with its value behind it, and "--persistent": messages from one
 * host to another share a connection that stays. They must leave one scheme.
 *
 * NULL if something is wrong, with the message in `error`, cut to `size` bytes; `error` may be NULL. */
tresse_simulation *tresse_open(const char *experiment, const char *const *options, char *error, size_t size);

/* How many hosts there are; they are numbered from 0. */
uint32_t tresse_hosts(const tresse_simulation *simulation);

/* Host `from` sends `bytes` of payload to host `to` from now on; `arrived` is called when the last byte is there. 0, or -1
 * if there is no such host, the two are one, or the size is not possible: see tresse_error. */
int tresse_send(tresse_simulation *simulation, uint32_t from, uint32_t to, uint64_t bytes, tresse_callback arrived,
                void *argument);

/* Calls `callback` at `time`; if that has passed, as soon as tresse_run turns time. */
void tresse_at(tresse_simulation *simulation, uint64_t time, tresse_callback callback, void *argument);

/* Simulated time, from 0. */
uint64_t tresse_now(const tresse_simulation *simulation);

/* Turns time until nothing is on its way and no callback is left, or until `until`; UINT64_MAX: without an end. 0, or -1
 * if messages wait for ever, or if it is called from a callback: see tresse_error. */
int tresse_run(tresse_simulation *simulation, uint64_t until);

/* What went wrong in the call before that returned -1; "" if nothing did. It stays until the next such call. */
const char *tresse_error(const tresse_simulation *simulation);

/* Frees it. What is on its way never arrives. Not to be called from a callback. NULL is ignored. */
void tresse_close(tresse_simulation *simulation);

#ifdef __cplusplus
}
#endif

#endif
