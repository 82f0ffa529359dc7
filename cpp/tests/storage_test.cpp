#include <map>
#include <random>

#include "check.hpp"
#include "mopsus/engine/domain.hpp"

namespace mopsus {

TEST(an_index_agrees_with_a_map) {
    std::mt19937 random(7);
    Index index;
    std::map<std::uint32_t, std::uint32_t> known;  // id -> hash
    std::uint32_t next = 1;
    for (int round = 0; round < 20000; ++round) {
        if (known.empty() || random() % 3 != 0) {
            const std::uint32_t hash = random() % 64;  // many collisions
            index.insert(hash, next);
            known[next++] = hash;
        } else {
            auto victim = known.begin();
            std::advance(victim, random() % known.size());
            REQUIRE(index.erase(victim->second, victim->first));
            REQUIRE(!index.erase(victim->second, victim->first));
            known.erase(victim);
        }
        if (known.size() > 200) {
            for (const auto& [id, hash] : known) REQUIRE(index.erase(hash, id));
            known.clear();
        }
        REQUIRE(index.size() == known.size());
        for (const auto& [id, hash] : known)
            REQUIRE(index.find(hash, [sought = id](std::uint32_t found) { return found == sought; }) == id);
    }
}

TEST(records_of_a_pool_stay_where_they_are) {
    Pool pool(3);
    std::vector<std::uint32_t*> places;
    for (std::uint32_t k = 1; k <= 5000; ++k) {
        const std::uint32_t id = pool.take();
        REQUIRE(id == k);
        pool.at(id)[0] = k;
        pool.at(id)[2] = k * 2;
        places.push_back(pool.at(id));
    }
    for (std::uint32_t k = 1; k <= 5000; ++k) REQUIRE(pool.at(k) == places[k - 1] && pool.at(k)[2] == k * 2);
    pool.give_back(17);
    pool.give_back(4000);
    REQUIRE(pool.used() == 4998);
    REQUIRE(pool.take() == 4000 && pool.take() == 17);
    REQUIRE(pool.at(17)[2] == 0);
}

TEST(values_are_told_apart_by_type_and_value) {
    Domain domain;
    const std::string text = "1";
    const std::vector<Key> keys = {Key::of_int(1),
                                   Key::of_float(1.0),
                                   Key::of_bits(KeyKind::Bool, 1),
                                   Key::of_blob(KeyKind::Text, text),
                                   Key::of_blob(KeyKind::Bytes, text),
                                   Key::of_bits(KeyKind::Null, 0),
                                   Key::of_bits(KeyKind::Object, 1)};
    for (const Key& key : keys) {
        REQUIRE(domain.find(key) == kNil);
        domain.insert(key);
    }
    for (std::size_t k = 0; k < keys.size(); ++k) REQUIRE(domain.find(keys[k]) == k + 1);
    REQUIRE(domain.find(Key::of_float(-0.0)) == kNil);
    domain.insert(Key::of_float(0.0));
    REQUIRE(domain.find(Key::of_float(-0.0)) != kNil);
}

TEST(a_buried_value_is_gone_but_its_slot_stays) {
    Domain domain(1);
    const Slot slot = domain.insert(Key::of_blob(KeyKind::Text, "a rather long text that lies on the heap"));
    domain.bury(slot);
    REQUIRE(domain.dead(slot) && domain.find(domain.key(slot)) == kNil);
    REQUIRE(domain.value(slot).blob == "a rather long text that lies on the heap");
    domain.recycle(slot);
    REQUIRE(domain.insert(Key::of_int(5)) == slot && !domain.dead(slot) && domain.serial(slot) == 2);
}

}  // namespace mopsus
