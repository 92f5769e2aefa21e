// A ring all-reduce that is driven from outside of the simulator, through the calls that a simulator of training jobs
// makes of its network: send, receive, schedule, time (the shape of ASTRA-sim's AstraNetworkAPI).
//
//   c++ -std=c++17 -I crates/embed/include crates/embed/examples/ring.cpp -L target/release -ltresse_embed -o ring
//   LD_LIBRARY_PATH=target/release ./ring today/uet-permutation 16 1048576 --only scheme=reps --only variant=all-fast

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <queue>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "tresse.h"

// The network as such simulators see it: a message has a tag, and is received by whom expects it.
class Network {
  public:
    using Done = std::function<void()>;

    Network(const char *experiment, const char *const *options) {
        char error[4096];
        simulation = tresse_open(experiment, options, error, sizeof error);
        if (!simulation) throw std::runtime_error(error);
    }
    ~Network() { tresse_close(simulation); }
    Network(const Network &) = delete;
    Network &operator=(const Network &) = delete;

    uint32_t hosts() const { return tresse_hosts(simulation); }
    uint64_t time_ps() const { return tresse_now(simulation); }

    // Calls `done` when the message has arrived.
    void send(uint32_t from, uint32_t to, int tag, uint64_t bytes, Done done) {
        auto *message = new Message{this, {from, to, tag}, std::move(done)};
        if (tresse_send(simulation, from, to, bytes, arrived, message) != 0) {
            delete message;
            throw std::runtime_error(tresse_error(simulation));
        }
    }

    // Calls `done` when the message of this tag is there, also if it has come before.
    void receive(uint32_t from, uint32_t to, int tag, Done done) {
        const Key key{from, to, tag};
        if (there[key] > 0) {
            there[key]--;
            schedule(0, std::move(done));
        } else {
            expected[key].push(std::move(done));
        }
    }

    void schedule(uint64_t delay_ps, Done done) {
        tresse_at(simulation, time_ps() + delay_ps, woken, new Done(std::move(done)));
    }

    void run() {
        if (tresse_run(simulation, UINT64_MAX) != 0) throw std::runtime_error(tresse_error(simulation));
    }

  private:
    using Key = std::tuple<uint32_t, uint32_t, int>;
    struct Message {
        Network *network;
        Key key;
        Done done;
    };

    static void arrived(tresse_simulation *, void *argument) {
        auto *message = static_cast<Message *>(argument);
        auto &waiting = message->network->expected[message->key];
        message->done();
        if (waiting.empty()) {
            message->network->there[message->key]++;
        } else {
            auto done = std::move(waiting.front());
            waiting.pop();
            done();
        }
        delete message;
    }

    static void woken(tresse_simulation *, void *argument) {
        auto *done = static_cast<Done *>(argument);
        (*done)();
        delete done;
    }

    tresse_simulation *simulation;
    std::map<Key, int> there;
    std::map<Key, std::queue<Done>> expected;
};

// Each of the first `ranks` hosts passes a chunk on in 2 (ranks - 1) steps: ranks - 1 of them reduce, the others gather.
class Ring {
  public:
    Ring(Network &network, uint32_t ranks, uint64_t bytes) : network(network), ranks(ranks), chunk(bytes / ranks) {
        if (ranks < 2 || ranks > network.hosts()) throw std::runtime_error("a ring has 2 ranks or more, each a host");
    }

    void begin() {
        for (uint32_t rank = 0; rank < ranks; rank++) step(rank, 0);
    }

    uint32_t finished() const { return done; }

  private:
    void step(uint32_t rank, int number) {
        if (number == static_cast<int>(2 * (ranks - 1))) {
            done++;
            return;
        }
        const uint32_t before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
        network.send(rank, behind, number, chunk, [] {});
        network.receive(before, rank, number, [this, rank, number] { step(rank, number + 1); });
    }

    Network &network;
    uint32_t ranks;
    uint64_t chunk;
    uint32_t done = 0;
};

int main(int count, char **arguments) {
    if (count < 4) {
        std::fprintf(stderr, "usage: ring EXPERIMENT RANKS BYTES [OPTION]...\n");
        return 2;
    }
    try {
        Network network(arguments[1], arguments + 4);
        const auto ranks = static_cast<uint32_t>(std::strtoul(arguments[2], nullptr, 10));
        Ring ring(network, ranks, std::strtoull(arguments[3], nullptr, 10));
        ring.begin();
        network.run();
        std::printf("%" PRIu32 " of %" PRIu32 " ranks have finished after %.3f us\n", ring.finished(), ranks,
                    static_cast<double>(network.time_ps()) / 1e6);
        return ring.finished() == ranks ? 0 : 1;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 2;
    }
}
