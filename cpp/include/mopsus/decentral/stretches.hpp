// What is known of the inputs of an automaton at each of a row of timestamps.
//
// Inputs change rarely, and verdicts come for many timestamps at once; so timestamps of which the same is known are
// kept as one stretch. Beside each stretch there is room for what its user has concluded at its beginning. For example,
// if `a` is known to be true up to timestamp 6, and `b` is known to be false from 4 on:
//
//     timestamp    1   2   3 | 4   5   6 | 7   8   9
//     stretch      0         | 1         | 2               they end at 3, 6 and 9
//     known        a         | a, b      | b
//     true         a         | a         |
//     room         for what was concluded at 1, at 4 and at 7
//
// What is learned of an interval cuts the stretches where it begins and ends, and joins neighbours of which the same is
// known then. A stretch that has changed has *news* until its user has read them; so a turn looks only at what has
// changed since the turn before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "mopsus/decentral/timestamps.hpp"

namespace mopsus::decentral {

class Stretches {
public:
    // For so many inputs, with so many words of room beside each stretch.
    Stretches(std::size_t inputs, std::size_t room);

    // They are about the timestamps after `start` up to `end`.
    Time start() const { return start_; }
    Time end() const { return size() == 0 ? start_ : lasts_.back(); }
    std::size_t size() const { return lasts_.size() - head_; }

    Interval interval(std::size_t number) const {
        return {number == 0 ? start_ + 1 : lasts_[head_ + number - 1] + 1, lasts_[head_ + number]};
    }
    Known at(std::size_t number) const { return {words(number), words(number) + inputs_}; }
    // Nothing at all happened: automata do not move.
    bool quiet(std::size_t number) const { return bit(words(number), quiet_); }
    // Empty in a new stretch.
    Word* room(std::size_t number) { return words(number) + 2 * inputs_; }
    // Is it not the same stretch any more that it was when `read` was called for it?
    bool news(std::size_t number) const { return news_[head_ + number] != 0; }
    void read(std::size_t number) { news_[head_ + number] = 0; }
    // The first stretch with news, and the one after the last; `read_all` says that there are none.
    std::pair<std::size_t, std::size_t> newest() const {
        return {find(news_within_.first), std::min(find(news_within_.last) + 1, size())};
    }
    void read_all() { news_within_ = {~Time{0}, 0}; }

    // More timestamps, up to `end`, of which nothing is known.
    void extend(Time end);
    // Inputs that are known have these values; false if one is known to have the other one. All timestamps must be
    // there.
    bool learn(Interval interval, Known news);
    void learn_quiet(Time time);
    // Forget everything up to a timestamp.
    void drop(Time time);

private:
    const Word* words(std::size_t number) const { return words_.data() + (head_ + number) * stride_; }
    Word* words(std::size_t number) { return words_.data() + (head_ + number) * stride_; }
    std::size_t find(Time time) const;
    std::size_t cut(Time time);
    void touch(std::size_t number);
    void join(std::size_t from, std::size_t to);

    std::size_t quiet_;   // the bit after those of all inputs
    std::size_t inputs_;  // words of a set of inputs
    std::size_t stride_;
    Time start_ = 0;
    // Stretches before this one have been dropped, and their memory is used again now and then.
    std::size_t head_ = 0;
    std::vector<Time> lasts_;
    std::vector<std::uint8_t> news_;
    // Timestamps outside have no news.
    Interval news_within_{~Time{0}, 0};
    // Of each stretch: the inputs that are known, their values, and the room.
    std::vector<Word> words_;
};

}  // namespace mopsus::decentral
