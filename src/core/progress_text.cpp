#include "core/progress_text.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace pibinn {

namespace {

constexpr std::size_t kNarrowestBar = 4;
constexpr std::size_t kWidestBar = 30;
constexpr std::string_view kGap = "  ";  // between fields, those of a detail too

/// Columns of a terminal, never too few: a character outside ASCII may take two.
std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80)
            columns += 1;
        else if (byte >= 0xC0)  // the first byte of a character in UTF-8
            columns += 2;
    }
    return columns;
}

/// The beginning of a text that fits, whole characters only.
std::string beginning(std::string_view text, std::size_t columns) {
    std::size_t end = 0;
    for (std::size_t next = 1; next <= text.size(); ++next) {
        const bool inside =
            next < text.size() && (static_cast<unsigned char>(text[next]) & 0xC0) == 0x80;
        if (inside) continue;
        if (columns_of(text.substr(0, next)) > columns) break;
        end = next;
    }
    return std::string(text.substr(0, end));
}

std::string rate_words(double rate) {
    const char* unit = "";
    for (const char* next : {"k", "M", "G"}) {
        if (rate < 999.5) break;
        rate /= 1000;
        unit = next;
    }
    return fmt::format("{:.3g}{}/s", rate, unit);
}

std::vector<std::string> fields_of(std::string_view detail) {
    std::vector<std::string> fields;
    while (!detail.empty()) {
        const std::size_t end = detail.find(kGap);
        if (end != 0) fields.emplace_back(detail.substr(0, end));
        if (end == std::string_view::npos) break;
        detail.remove_prefix(end + kGap.size());
    }
    return fields;
}

/// What every form of the line says.
struct Facts {
    std::string task;
    double share = 0;  ///< of the work that is done
    std::string done;  ///< "42 %", or a count where the total is unknown
    std::string rate;  ///< "120/s"
    std::string left;  ///< "35 s left", or empty
    std::vector<std::string> detail;

    Facts(const Progress& p, double seconds) : task(p.task), detail(fields_of(p.detail)) {
        const double now =
            seconds > 0 ? static_cast<double>(p.done - std::min(p.done, p.restored)) / seconds : 0;
        rate = rate_words(now);
        if (p.total == 0) {
            done = fmt::format("{} done", p.done);
            return;
        }
        share = std::min(1.0, static_cast<double>(p.done) / static_cast<double>(p.total));
        done = fmt::format("{:3.0f} %", 100 * share);
        if (p.total > p.done && now > 0)
            left = duration_words(static_cast<double>(p.total - p.done) / now) + " left";
    }
};

}  // namespace

std::string duration_words(double seconds) {
    constexpr double kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
    if (!(seconds < 1000 * kDay)) return "over 1000 days";
    if (seconds < 99.5) return fmt::format("{:.0f} s", std::max(0.0, seconds));
    if (seconds < 59.5 * kMinute) return fmt::format("{:.0f} min", seconds / kMinute);
    const auto minutes = static_cast<long>(seconds / kMinute + 0.5);
    if (minutes < 48 * 60)
        return minutes % 60 == 0 ? fmt::format("{} h", minutes / 60)
                                 : fmt::format("{} h {} min", minutes / 60, minutes % 60);
    return fmt::format("{:.0f} days", seconds / kDay);
}

std::string progress_text(const Progress& progress, double seconds) {
    const Facts facts(progress, seconds);
    std::string line = facts.task;
    const auto add = [&](const std::string& field) {
        if (!field.empty()) line.append(kGap).append(field);
    };
    add(facts.done.substr(facts.done.find_first_not_of(' ')));
    add(facts.rate);
    add(facts.left);
    for (const std::string& field : facts.detail) add(field);
    return line;
}

std::string progress_bar(const Progress& progress, double seconds, std::size_t columns) {
    const Facts facts(progress, seconds);
    const std::size_t room = columns > 0 ? columns - 1 : 0;
    std::size_t bar = progress.total > 0 ? std::clamp(columns / 10, kNarrowestBar, kWidestBar) : 0;
    std::size_t details = facts.detail.size();
    bool rate = true;
    const auto line = [&] {
        std::string text = facts.task;
        if (bar > 0) {
            const auto filled = static_cast<std::size_t>(facts.share * static_cast<double>(bar));
            text +=
                fmt::format(" [{}{}]", std::string(filled, '#'), std::string(bar - filled, '.'));
        }
        text += (progress.total > 0 ? " " : "  ") + facts.done;
        if (rate) text += std::string(kGap) + facts.rate;
        if (!facts.left.empty()) text += std::string(kGap) + facts.left;
        for (std::size_t i = 0; i < details; ++i) text += std::string(kGap) + facts.detail[i];
        return text;
    };
    const auto fits = [&] { return columns_of(line()) <= room; };
    if (!fits()) rate = false;
    while (details > 0 && !fits()) --details;
    while (bar > 0 && !fits()) --bar;
    return beginning(line(), room);
}

}  // namespace pibinn
