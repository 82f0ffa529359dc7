// The values seen for one parameter. Each has a slot; a slot is recycled when its value is
// dead and nothing refers to it any more.
#pragma once

#include <memory>
#include <string>

#include "mopsus/engine/key.hpp"
#include "mopsus/engine/storage.hpp"

namespace mopsus {

using Slot = std::uint32_t;  // 0: no value

class Domain {
public:
    // `extra` words of every slot belong to the owner. Values are numbered in the order in which they
    // come, together with those of other domains that share `serials`.
    explicit Domain(std::uint32_t extra = 0,
                    std::shared_ptr<std::uint32_t> serials = std::make_shared<std::uint32_t>(0))
        : pool_(kHeader + extra), serials_(std::move(serials)) {}
    Domain(const Domain&) = delete;
    Domain& operator=(const Domain&) = delete;
    Domain(Domain&&) = default;
    Domain& operator=(Domain&&) = delete;
    ~Domain() {
        for (Slot slot = 1; slot <= pool_.last(); ++slot)
            if (kind(slot) != KeyKind::None) drop_blob(slot);
    }

    Slot find(const Key& key) const {
        return index_.find(key.hash, [&](Slot slot) { return same(slot, key); });
    }
    // For those who know what comes: bring the index near; the slot that a hash probably belongs to
    // (0: none); bring a slot near.
    void prefetch(std::uint32_t hash) const { index_.prefetch(hash); }
    Slot guess(std::uint32_t hash) const {
        return index_.find(hash, [](Slot) { return true; });
    }
    void prefetch_slot(Slot slot) const { __builtin_prefetch(pool_.at(slot)); }

    Slot insert(const Key& key) { return insert(key, ++*serials_); }
    // With a number that was taken for it before.
    Slot insert(const Key& key, std::uint32_t serial) {
        const Slot slot = pool_.take();
        std::uint32_t* record = pool_.at(slot);
        store64(record + kBits,
                is_blob(key.kind) ? reinterpret_cast<std::uintptr_t>(new std::string(key.blob)) : key.bits);
        record[kMeta] = static_cast<std::uint32_t>(key.kind);
        record[kHash] = key.hash;
        record[kSerial] = serial;
        index_.insert(key.hash, slot);
        return slot;
    }
    // The value can no longer occur: forget it, but keep the slot for those who refer to it.
    void bury(Slot slot) {
        std::uint32_t* record = pool_.at(slot);
        if ((record[kMeta] & kDead) != 0) return;
        index_.erase(record[kHash], slot);
        record[kMeta] |= kDead;
    }
    // A buried slot may be recycled once its owner has been told and has nothing left that refers to it.
    void release(Slot slot) { pool_.at(slot)[kMeta] |= kReleased; }
    bool released(Slot slot) const { return (pool_.at(slot)[kMeta] & kReleased) != 0; }
    void recycle(Slot slot) {
        drop_blob(slot);
        pool_.at(slot)[kMeta] = 0;
        pool_.at(slot)[kSerial] = 0;  // whoever has kept both must not take the slot for that of the value
        pool_.give_back(slot);
    }

    KeyKind kind(Slot slot) const { return static_cast<KeyKind>(pool_.at(slot)[kMeta] & 0xFF); }
    bool dead(Slot slot) const { return (pool_.at(slot)[kMeta] & kDead) != 0; }
    std::uint32_t serial(Slot slot) const { return pool_.at(slot)[kSerial]; }
    void set_serial(Slot slot, std::uint32_t serial) { pool_.at(slot)[kSerial] = serial; }
    std::uint32_t hash(Slot slot) const { return pool_.at(slot)[kHash]; }
    std::uint64_t bits(Slot slot) const { return load64(pool_.at(slot) + kBits); }
    // What the owner of the process needs to hear of the value's death, if anything.
    std::uint64_t watch(Slot slot) const { return load64(pool_.at(slot) + kWatch); }
    void set_watch(Slot slot, std::uint64_t watch) { store64(pool_.at(slot) + kWatch, watch); }
    // Anything else that is to be remembered about the value.
    std::uint32_t tag(Slot slot) const { return pool_.at(slot)[kTag]; }
    void set_tag(Slot slot, std::uint32_t tag) { pool_.at(slot)[kTag] = tag; }
    std::uint32_t* extra(Slot slot) { return pool_.at(slot) + kHeader; }

    Key key(Slot slot) const {
        const KeyKind k = kind(slot);
        return is_blob(k) ? Key{k, hash(slot), 0, *blob(slot)} : Key{k, hash(slot), bits(slot), {}};
    }
    Value value(Slot slot) const {
        const KeyKind k = kind(slot);
        return {k,
                dead(slot),
                serial(slot),
                tag(slot),
                is_blob(k) ? 0 : bits(slot),
                is_blob(k) ? *blob(slot) : std::string()};
    }

    std::uint32_t last() const { return pool_.last(); }
    std::uint32_t used() const { return pool_.used(); }
    std::size_t bytes() const { return pool_.bytes() + index_.bytes(); }

    static std::uint64_t load64(const std::uint32_t* at) {
        return static_cast<std::uint64_t>(at[0]) | (static_cast<std::uint64_t>(at[1]) << 32);
    }
    static void store64(std::uint32_t* at, std::uint64_t value) {
        at[0] = static_cast<std::uint32_t>(value);
        at[1] = static_cast<std::uint32_t>(value >> 32);
    }

private:
    // Word 0 is the pool's while the slot is free, and kMeta is then 0.
    enum : std::uint32_t { kBits = 0, kMeta = 2, kHash = 3, kSerial = 4, kWatch = 5, kTag = 7, kHeader = 8 };
    static constexpr std::uint32_t kDead = 0x100;
    static constexpr std::uint32_t kReleased = 0x200;

    const std::string* blob(Slot slot) const { return reinterpret_cast<const std::string*>(bits(slot)); }
    void drop_blob(Slot slot) {
        if (is_blob(kind(slot))) delete blob(slot);
    }
    bool same(Slot slot, const Key& key) const {
        if (kind(slot) != key.kind) return false;
        return is_blob(key.kind) ? *blob(slot) == key.blob : bits(slot) == key.bits;
    }

    Pool pool_;
    Index index_;
    std::shared_ptr<std::uint32_t> serials_;
};

}  // namespace mopsus
