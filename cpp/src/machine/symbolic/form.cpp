#include "form.hpp"

#include <algorithm>
#include <stdexcept>

namespace mopsus {

namespace {

using Number = SymbolicMachine::Number;
using Node = SymbolicMachine::Node;

constexpr std::size_t kLargest = std::size_t{1} << 16;  // leaves of one form

class Making {
public:
    Making(const SymbolicMachine& machine, std::vector<std::vector<Number>>& unfoldings)
        : machine_(machine), unfoldings_(unfoldings) {}

    Form make(Number number, const std::vector<Number>& unfolded, bool again, std::size_t depth) {
        // A fixed point that is met without any modality in between would be unfolded for ever.
        if (depth > machine_.nodes.size()) throw std::invalid_argument("recursion without a modality");
        if (++size_ > kLargest) throw std::invalid_argument("a formula is too large");
        const Node& node = machine_.nodes[number];
        switch (node.kind) {
            case Node::Kind::Truth:
                return {node.flag ? Form::Kind::True : Form::Kind::False, again, 0, numbered(unfolded), {}};
            case Node::Kind::Modality: return {Form::Kind::Leaf, again, number, numbered(unfolded), {}};
            case Node::Kind::Recursion: {
                std::vector<Number> longer = unfolded;
                longer.push_back(number);
                return make(node.then, longer, again || !node.flag, depth + 1);
            }
            case Node::Kind::Join: break;
            case Node::Kind::Selection: throw std::invalid_argument("a selection is only for the root");
        }
        const Form::Kind kind = node.flag ? Form::Kind::And : Form::Kind::Or;
        const Form::Kind neutral = node.flag ? Form::Kind::True : Form::Kind::False;
        const Form::Kind decisive = node.flag ? Form::Kind::False : Form::Kind::True;
        Form made{kind, false, 0, 0, {}};
        for (const Number part : node.parts) {
            Form form = make(part, unfolded, again, depth + 1);
            if (form.kind == decisive) return form;
            if (form.kind == neutral) continue;
            if (form.kind == kind)
                for (Form& one : form.parts) add(made, std::move(one));
            else
                add(made, std::move(form));
        }
        if (made.parts.empty()) return {neutral, again, 0, numbered(unfolded), {}};
        if (made.parts.size() > 1) return made;
        Form only = std::move(made.parts[0]);
        return only;
    }

private:
    static void add(Form& made, Form&& part) {
        const auto same = [&](const Form& other) {
            return part.kind == Form::Kind::Leaf && other.kind == Form::Kind::Leaf && other.node == part.node;
        };
        if (std::none_of(made.parts.begin(), made.parts.end(), same)) made.parts.push_back(std::move(part));
    }
    std::uint32_t numbered(const std::vector<Number>& unfolded) {
        const auto known = std::find(unfoldings_.begin(), unfoldings_.end(), unfolded);
        const auto number = static_cast<std::uint32_t>(known - unfoldings_.begin());
        if (known == unfoldings_.end()) unfoldings_.push_back(unfolded);
        return number;
    }
    const SymbolicMachine& machine_;
    std::vector<std::vector<Number>>& unfoldings_;
    std::size_t size_ = 0;
};

bool contains_or(const Form& form) {
    return form.kind == Form::Kind::Or || std::any_of(form.parts.begin(), form.parts.end(), contains_or);
}

}  // namespace

Forms::Forms(const SymbolicMachine& machine) : forms_(machine.nodes.size()), known_(machine.nodes.size()) {
    const Node& root = machine.nodes[machine.root];
    visit(machine, root.kind == Node::Kind::Selection ? root.then : machine.root);
}

void Forms::visit(const SymbolicMachine& machine, Number start) {
    std::vector<Number> waiting{start};
    while (!waiting.empty()) {
        const Number node = waiting.back();
        waiting.pop_back();
        if (known_[node]) continue;
        known_[node] = true;
        forms_[node] = Making(machine, unfoldings_).make(node, {}, false, 0);
        has_or_ = has_or_ || contains_or(forms_[node]);
        std::vector<const Form*> parts{&forms_[node]};
        while (!parts.empty()) {
            const Form& form = *parts.back();
            parts.pop_back();
            if (form.kind == Form::Kind::Leaf) waiting.push_back(machine.nodes[form.node].then);
            for (const Form& part : form.parts) parts.push_back(&part);
        }
    }
}

}  // namespace mopsus
