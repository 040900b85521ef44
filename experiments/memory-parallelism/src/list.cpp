// Follows one linked list of a million nodes, or two such lists at once.
//
// Usage: list one|two ordered|random
//
// The nodes of `ordered` lists are consecutive in memory, like those of a list that was built at once. The nodes of
// `random` lists are in random order, like those of a list that has changed for a while.
#include <vector>

#include "measure.h"

struct Node {
    Node *next;
    uint64_t value;
};

// Links the nodes into one list, in the order of their addresses or in a random order.
static Node *link(std::vector<Node> &nodes, bool random, uint64_t seed) {
    std::vector<uint32_t> order(nodes.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = (uint32_t)i;
    for (size_t i = order.size(); random && i > 1; i--) std::swap(order[i - 1], order[random_below(&seed, i)]);
    for (size_t i = 0; i < order.size(); i++) {
        Node *next = i + 1 < order.size() ? &nodes[order[i + 1]] : nullptr;
        nodes[order[i]] = Node{next, i};
    }
    return &nodes[order[0]];
}

static uint64_t sum_one(const Node *node) {
    uint64_t sum = 0;
    for (; node != nullptr; node = node->next) sum += node->value;
    return sum;
}

// Both lists have the same length.
static uint64_t sum_two(const Node *first, const Node *second) {
    uint64_t sum = 0;
    for (; first != nullptr; first = first->next, second = second->next) sum += first->value + second->value;
    return sum;
}

int main(int count, char **arguments) {
    bool two = count == 3 && !strcmp(arguments[1], "two"), random = count == 3 && !strcmp(arguments[2], "random");
    if (count != 3 || (!two && strcmp(arguments[1], "one")) || (!random && strcmp(arguments[2], "ordered"))) {
        fprintf(stderr, "usage: list one|two ordered|random\n");
        return 2;
    }
    const size_t length = 1000000;
    std::vector<Node> first_nodes(length), second_nodes(two ? length : 1);
    const Node *first = link(first_nodes, random, 1), *second = link(second_nodes, random, 2);
    const uint64_t expected = (uint64_t)length * (length - 1) / 2;
    Timing timing = two ? repeat(0.5, [&] { check(sum_two(first, second) == 2 * expected, "the sum over both lists"); })
                        : repeat(0.5, [&] { check(sum_one(first) == expected, "the sum over the list"); });
    printf("pass_min %.5g ms\npass_median %.5g ms\n", timing.minimum * 1e3, timing.median * 1e3);
}
