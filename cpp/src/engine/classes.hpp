// Which values have occurred together, directly or by way of others (union-find). A class whose
// values are all dead is forgotten.
#pragma once

#include "mopsus/engine/domain.hpp"

namespace mopsus {

class Classes {
public:
    using Node = Slot;

    // The node of a value, with one more user.
    Node enter(const Key& key) {
        Node node = nodes_.find(key);
        if (node == kNil) {
            node = nodes_.insert(key);
            std::uint32_t* at = nodes_.extra(node);
            at[kParent] = at[kNext] = node;
        }
        std::uint32_t* at = nodes_.extra(node);
        if (at[kUsers]++ == 0) ++nodes_.extra(find(node))[kLive];
        return node;
    }
    // A node as a snapshot has it, with one user and in a class of its own. Nobody finds a buried one.
    Node add(const Key& key, bool buried) {
        const Node node = nodes_.insert(key);
        std::uint32_t* at = nodes_.extra(node);
        at[kParent] = at[kNext] = node;
        at[kUsers] = at[kLive] = 1;
        if (buried) nodes_.bury(node);
        return node;
    }
    void add_user(Node node) { ++nodes_.extra(node)[kUsers]; }
    bool knows(const Key& key) const { return nodes_.find(key) != kNil; }
    bool buried(Node node) const { return nodes_.dead(node); }
    Key key(Node node) const { return nodes_.key(node); }
    // The value is dead: the next one that looks the same (an object at the same address) is another.
    void bury(Node node, bool object) {
        if (object || nodes_.extra(node)[kUsers] == 1) nodes_.bury(node);
    }
    void leave(Node node) {
        if (--nodes_.extra(node)[kUsers] != 0) return;
        if (--nodes_.extra(find(node))[kLive] != 0) return;
        for (Node at = node;;) {
            const Node next = nodes_.extra(at)[kNext];
            nodes_.bury(at);
            nodes_.recycle(at);
            if (next == node) return;
            at = next;
        }
    }
    Node find(Node node) {
        while (true) {
            std::uint32_t& parent = nodes_.extra(node)[kParent];
            if (parent == node) return node;
            parent = nodes_.extra(parent)[kParent];
            node = parent;
        }
    }
    void join(Node a, Node b) {
        a = find(a);
        b = find(b);
        if (a == b) return;
        std::uint32_t* at = nodes_.extra(a);
        std::uint32_t* bt = nodes_.extra(b);
        if (at[kLive] < bt[kLive]) {
            std::swap(a, b);
            std::swap(at, bt);
        }
        bt[kParent] = a;
        at[kLive] += bt[kLive];
        std::swap(at[kNext], bt[kNext]);  // two rings become one
    }
    std::size_t bytes() const { return nodes_.bytes(); }
    std::size_t size() const { return nodes_.used(); }

private:
    enum : std::uint32_t { kParent, kNext, kUsers, kLive, kWords };
    Domain nodes_{kWords};
};

}  // namespace mopsus
