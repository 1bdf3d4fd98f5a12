// How fast can exact matching be on this machine? An index of conjunctions of integer ranges, in plain C++.
//
//     probe FOLDER EVENTS
//
// Reads `subs.txt` (a conjunction a line: `attribute:low:high ...`) and the first EVENTS lines of `events.txt`
// (`attribute:value ...`). Every subscription is filed once, under its rarest predicate: in a bucket for each value that
// this predicate accepts. An event looks into the buckets of its pairs and verifies the other predicates of what it
// finds there against an array of its values. What is rare is learnt from the subscriptions alone.
// Prints one JSON object. Times are CPU seconds; matching is the best of three passes over the events.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kAttributes = 100;
constexpr int kValues = 1000;
constexpr int kPasses = 3;
constexpr short kAbsent = -1;
// Before anything is seen every value is half as likely as one seen once.
constexpr double kPrior = 0.5;
// The most popular attribute counts as being in every event, and so do those almost as popular.
constexpr double kPopular = 1.2;

struct Range {
    short attribute, low, high;
};
using Event = std::vector<std::pair<int, int>>;

double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

long resident_mebibytes() {
    long size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    return resident * 4 / 1024;
}

void refuse(const std::string& what) {
    std::fprintf(stderr, "probe: %s\n", what.c_str());
    std::exit(1);
}

std::ifstream opened(const std::string& path) {
    std::ifstream file(path);
    if (!file) refuse("cannot read " + path);
    return file;
}

void check(bool fits, const std::string& token) {
    if (!fits) refuse("'" + token + "' is not of 100 attributes and 1000 values");
}

// The ranges of subscription i lie from starts[i] to starts[i + 1].
void read_subscriptions(const std::string& path, std::vector<Range>& ranges, std::vector<int>& starts) {
    auto file = opened(path);
    starts.push_back(0);
    for (std::string line, token; std::getline(file, line);) {
        for (std::stringstream tokens(line); tokens >> token;) {
            int attribute = -1, low = -1, high = -1;
            std::sscanf(token.c_str(), "%d:%d:%d", &attribute, &low, &high);
            check(attribute >= 0 && attribute < kAttributes && low >= 0 && low <= high && high < kValues, token);
            ranges.push_back({short(attribute), short(low), short(high)});
        }
        starts.push_back(int(ranges.size()));
    }
}

std::vector<Event> read_events(const std::string& path, size_t most) {
    auto file = opened(path);
    std::vector<Event> events;
    for (std::string line, token; events.size() < most && std::getline(file, line);) {
        Event event;
        for (std::stringstream tokens(line); tokens >> token;) {
            int attribute = -1, value = -1;
            std::sscanf(token.c_str(), "%d:%d", &attribute, &value);
            check(attribute >= 0 && attribute < kAttributes && value >= 0 && value < kValues, token);
            event.push_back({attribute, value});
        }
        events.push_back(event);
    }
    return events;
}

}  // namespace

int main(int count, char** words) {
    if (count != 3) refuse("usage: probe FOLDER EVENTS");
    const std::string folder = words[1];
    std::vector<Range> ranges;
    std::vector<int> starts;
    read_subscriptions(folder + "/subs.txt", ranges, starts);
    const auto events = read_events(folder + "/events.txt", std::strtoul(words[2], nullptr, 10));
    const int subscriptions = int(starts.size()) - 1;

    const double build_start = cpu_seconds();
    std::vector<double> asked(kAttributes, 0), equalities(kAttributes, kValues * kPrior);
    std::vector<std::vector<double>> asked_for(kAttributes, std::vector<double>(kValues, kPrior));
    for (const auto& range : ranges) {
        asked[range.attribute]++;
        if (range.low == range.high) {
            asked_for[range.attribute][range.low]++;
            equalities[range.attribute]++;
        }
    }
    const double most_asked = *std::max_element(asked.begin(), asked.end());
    const auto chance = [&](const Range& range) {
        const double there = std::min(1.0, asked[range.attribute] / most_asked * kPopular);
        if (range.low == range.high)
            return there * asked_for[range.attribute][range.low] / equalities[range.attribute];
        return there * (range.high - range.low + 1) / kValues;
    };
    std::vector<std::vector<int>> buckets(size_t(kAttributes) * kValues);
    for (int i = 0; i < subscriptions; i++) {
        if (starts[i] == starts[i + 1]) refuse("a subscription without predicates");
        std::sort(ranges.begin() + starts[i], ranges.begin() + starts[i + 1],
                  [&](const Range& one, const Range& other) { return chance(one) < chance(other); });
        const Range& rarest = ranges[starts[i]];
        for (int value = rarest.low; value <= rarest.high; value++)
            buckets[size_t(rarest.attribute) * kValues + value].push_back(i);
    }
    const double build = cpu_seconds() - build_start;
    const long resident = resident_mebibytes();

    std::vector<short> values(kAttributes, kAbsent);
    std::vector<int> found;
    double best = 1e9;
    long matches = 0;
    unsigned long long id_sum = 0, candidates = 0;
    for (int pass = 0; pass < kPasses; pass++) {
        matches = 0, id_sum = 0, candidates = 0;
        const double start = cpu_seconds();
        for (const auto& event : events) {
            for (const auto& pair : event) values[pair.first] = short(pair.second);
            found.clear();
            for (const auto& pair : event) {
                const auto& bucket = buckets[size_t(pair.first) * kValues + pair.second];
                candidates += bucket.size();
                for (int i : bucket) {
                    const Range *range = &ranges[0] + starts[i] + 1, *end = &ranges[0] + starts[i + 1];
                    bool meets = true;
                    for (; range < end; range++) {
                        const short value = values[range->attribute];
                        if (value < range->low || value > range->high) {
                            meets = false;
                            break;
                        }
                    }
                    if (meets) found.push_back(i);
                }
            }
            matches += long(found.size());
            for (int i : found) id_sum += i;
            for (const auto& pair : event) values[pair.first] = kAbsent;
        }
        best = std::min(best, cpu_seconds() - start);
    }
    std::printf(
        "{\"subscriptions\": %d, \"events\": %zu, \"build_seconds\": %.6f, \"resident_mebibytes\": %ld, "
        "\"match_seconds\": %.9f, \"matches\": %ld, \"id_sum\": %llu, \"candidates\": %llu}\n",
        subscriptions, events.size(), build, resident, best, matches, id_sum, candidates);
}
