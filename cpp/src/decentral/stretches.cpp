#include "mopsus/decentral/stretches.hpp"

namespace mopsus::decentral {

namespace {

template <class Element>
void erase(std::vector<Element>& all, std::size_t from, std::size_t to) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(from), all.begin() + static_cast<std::ptrdiff_t>(to));
}

}  // namespace

Stretches::Stretches(std::size_t inputs, std::size_t room)
    : quiet_(inputs), inputs_(words_for(inputs + 1)), stride_(2 * inputs_ + room) {}

// The stretch that a timestamp is in.
std::size_t Stretches::find(Time time) const {
    const auto begin = lasts_.begin() + static_cast<std::ptrdiff_t>(head_);
    return static_cast<std::size_t>(std::lower_bound(begin, lasts_.end(), time) - begin);
}

// It has news.
void Stretches::touch(std::size_t number) {
    news_[head_ + number] = 1;
    news_within_.first = std::min(news_within_.first, interval(number).first);
    news_within_.last = std::max(news_within_.last, interval(number).last);
}

void Stretches::extend(Time end) {
    if (end <= this->end()) return;
    lasts_.push_back(end);
    news_.push_back(0);
    words_.resize(words_.size() + stride_);
    touch(size() - 1);
    if (size() > 1) join(size() - 2, size() - 1);
}

// Let a stretch begin at this timestamp; its number.
std::size_t Stretches::cut(Time time) {
    const std::size_t number = find(time);
    if (number == size() || interval(number).first == time) return number;
    const std::size_t at = head_ + number;
    lasts_.insert(lasts_.begin() + static_cast<std::ptrdiff_t>(at), time - 1);
    news_.insert(news_.begin() + static_cast<std::ptrdiff_t>(at), news_[at]);
    words_.resize(words_.size() + stride_);
    std::copy_backward(words_.begin() + static_cast<std::ptrdiff_t>(at * stride_),
                       words_.end() - static_cast<std::ptrdiff_t>(stride_), words_.end());
    // What was concluded at the beginning does not hold in the middle.
    std::fill(room(number + 1), words(number + 1) + stride_, Word{0});
    touch(number + 1);
    return number + 1;
}

// Make stretches one where the same is known.
void Stretches::join(std::size_t from, std::size_t to) {
    std::size_t kept = from;
    for (std::size_t next = from + 1; next <= to; ++next) {
        if (std::equal(words(kept), words(kept) + 2 * inputs_, words(next))) {
            lasts_[head_ + kept] = lasts_[head_ + next];
            touch(kept);
        } else if (++kept != next) {
            lasts_[head_ + kept] = lasts_[head_ + next];
            news_[head_ + kept] = news_[head_ + next];
            std::copy_n(words(next), stride_, words(kept));
        }
    }
    if (kept == to) return;
    erase(lasts_, head_ + kept + 1, head_ + to + 1);
    erase(news_, head_ + kept + 1, head_ + to + 1);
    erase(words_, (head_ + kept + 1) * stride_, (head_ + to + 1) * stride_);
}

bool Stretches::learn(Interval interval, Known news) {
    const std::size_t first = cut(interval.first);
    const std::size_t after = cut(interval.last + 1);
    for (std::size_t number = first; number < after; ++number) {
        Word* const known = words(number);
        Word* const value = known + inputs_;
        bool new_here = false;
        for (std::size_t word = 0; word < words_for(quiet_); ++word) {
            if ((known[word] & news.known[word] & (value[word] ^ news.value[word])) != 0) return false;
            new_here |= (news.known[word] & ~known[word]) != 0;
            known[word] |= news.known[word];
            value[word] |= news.value[word] & news.known[word];
        }
        if (new_here) touch(number);
    }
    join(first == 0 ? 0 : first - 1, std::min(after, size() - 1));
    return true;
}

void Stretches::learn_quiet(Time time) {
    const std::size_t number = cut(time);
    cut(time + 1);
    set_bit(words(number), quiet_);
    touch(number);
}

void Stretches::drop(Time time) {
    std::size_t gone = 0;
    while (gone < size() && interval(gone).last <= time) ++gone;
    const bool cut = gone < size() && interval(gone).first <= time;
    head_ += gone;
    start_ = time;
    if (cut) touch(0);
    if (head_ < 64 || head_ < size()) return;
    erase(lasts_, 0, head_);
    erase(news_, 0, head_);
    erase(words_, 0, head_ * stride_);
    head_ = 0;
}

}  // namespace mopsus::decentral
