// Values that depend on the future: each follows behind as far as its operands are known.
#pragma once

#include <memory>

#include "timed_store.hpp"

namespace mopsus {

class Delays {
public:
    using Kind = TimedMachine::Kind;
    using Bounds = TimedMachine::Bounds;
    using Scale = TimedMachine::Scale;

    // What follows behind in a machine: its operators on the future, and all above them.
    explicit Delays(const TimedMachine& machine);
    bool empty() const { return plans_.empty(); }
    bool is_delayed(std::uint32_t value) const { return lane_of_[value] != kNone; }

    // States, numbered from 1.
    std::uint32_t begin();
    std::uint32_t copy(std::uint32_t id);
    void end(std::uint32_t id);
    // One more point, at `time`, with the values that are known at once. Gives 1 if the formula has
    // turned out to hold at some point, 2 if it has turned out not to, 3 for both.
    unsigned advance(std::uint32_t id, const std::uint8_t* values, std::uint64_t time, Scale scale);
    template <class Visit>
    void each_time(std::uint32_t id, Visit&& visit) {
        State& state = *states_[id - 1];
        for (std::size_t k = 0; k < state.times.size(); ++k) visit(state.times[k]);
        for (Lane& lane : state.lanes) lane.witnesses.each_time(visit);
    }
    void transfer(Archive& archive, std::uint32_t id);
    std::size_t kept(std::uint32_t id) const;
    std::size_t bytes() const;

private:
    static constexpr std::uint32_t kNone = ~0U;
    enum class Truth : std::uint8_t { False, True, Unknown };
    struct Reader {  // an operand of a lane
        std::uint32_t lane;
        std::uint32_t operand;
    };
    struct Plan {  // an operator, and who reads its values
        Kind kind;
        std::uint32_t operands;
        std::array<Bounds, 2> bounds;
        std::vector<Reader> readers;
        bool formula = false;
    };
    struct Track {  // an operand, as far as it is known
        std::uint64_t known = 0;
        Queue<std::uint8_t> values;  // the last ones
        Queue<std::uint64_t> marks;  // of `until` instead: points where the left one fails, the right one holds

        Truth at(std::uint64_t point) const {
            if (point >= known) return Truth::Unknown;
            return values[values.size() - (known - point)] != 0 ? Truth::True : Truth::False;
        }
        void forget_before(std::uint64_t point) {
            const std::uint64_t keep = known > point ? known - point : 0;
            if (values.size() > keep) values.pop(values.size() - keep);
        }
    };
    // Of the points from `taken` up to the one whose value is asked for. All of these only grow, and none needs to be
    // stored.
    struct Ahead {
        std::uint64_t looked = 0;  // the left operand has been looked at before this point
        std::uint64_t broken = 0;  // where it last failed
        std::uint64_t hope = 0;    // no witness that is known lies before this point
        std::uint64_t near = 0;    // the last point that is not too near, if it is one of these
    };
    struct Lane {
        std::uint64_t done = 0;  // so many points have their value
        std::vector<Track> operands;
        Witnesses witnesses;      // of `since`, at the points that it has taken in
        std::uint64_t taken = 0;  // of `since`: all operands at points before this one are in `witnesses`
        Ahead ahead;              // of `since`: what is known of the points from there on
        std::uint64_t reach = 0;  // of `until`: no point before this one is far enough ahead

        Track& right() { return operands.back(); }
    };
    struct State {
        std::uint64_t first = 0;  // the point that `times` begins with
        Queue<std::uint64_t> times;
        std::vector<Lane> lanes;

        std::uint64_t points() const { return first + times.size(); }
        std::uint64_t time(std::uint64_t point) const { return times[point - first]; }
    };

    void give(State& state, Reader reader, bool value) const;
    static Truth next(Kind kind, const Bounds& bounds, State& state, Lane& lane);
    static Truth connect(Kind kind, Lane& lane);
    static Truth since(const Bounds& bounds, const State& state, Lane& lane);
    static Truth since_ahead(const Bounds& bounds, const State& state, Lane& lane);
    static bool look_for_break(const Track& left, Lane& lane, std::uint64_t point);
    static void look_for_witness(const Bounds& bounds, const State& state, Lane& lane, std::uint64_t first);
    static Truth until(const Bounds& bounds, const State& state, Lane& lane);
    void transfer_lane(Archive& archive, const State& state, const Plan& plan, Lane& lane) const;

    std::vector<Plan> plans_;                               // operands first
    std::vector<std::pair<std::uint32_t, Reader>> inputs_;  // values that are known at once
    std::vector<std::uint32_t> lane_of_;                    // by value
    std::vector<std::unique_ptr<State>> states_;
    std::vector<std::uint32_t> free_;
};

}  // namespace mopsus
