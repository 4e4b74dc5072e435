#include "safetensors_mutator.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "json_mutator.hpp"

namespace pibinn::fuzz {

namespace {

using nlohmann::json;

constexpr std::size_t kLength = 8;

struct Part {
    std::string name;
    json facts;
    std::string data;
};

struct File {
    json metadata;
    std::vector<Part> parts;
};

std::string with_length(std::string_view header, std::string_view data) {
    return bytes_of(static_cast<std::uint64_t>(header.size())).append(header).append(data);
}

/// The tensors with their data, where the header is good enough for that.
std::optional<File> unpack(const std::string& header, std::string_view data) {
    const json root = parse_shallow(header);
    if (!root.is_object()) return std::nullopt;
    File file;
    for (const auto& [name, facts] : root.items()) {
        if (name == "__metadata__") {
            file.metadata = facts;
            continue;
        }
        if (!facts.is_object() || !facts.contains("data_offsets")) return std::nullopt;
        const json& offsets = facts["data_offsets"];
        if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
            !offsets[1].is_number_unsigned())
            return std::nullopt;
        const auto begin = offsets[0].get<std::size_t>(), end = offsets[1].get<std::size_t>();
        if (begin > end || end > data.size()) return std::nullopt;
        file.parts.push_back({name, facts, std::string(data.substr(begin, end - begin))});
    }
    return file;
}

std::string pack(File& file) {
    json root = json::object();
    if (!file.metadata.is_null()) root["__metadata__"] = file.metadata;
    std::string data;
    for (Part& part : file.parts) {
        part.facts["data_offsets"] = {data.size(), data.size() + part.data.size()};
        root[part.name] = part.facts;
        data += part.data;
    }
    return with_length(root.dump(-1, ' ', false, json::error_handler_t::replace), data);
}

std::size_t width_of(const json& type) {
    const std::string name = type.is_string() ? type.get<std::string>() : "";
    return name.ends_with("64") ? 8 : name.ends_with("32") ? 4 : name.ends_with("16") ? 2 : 1;
}

/// Another length, with as many bytes.
void resize(Part& part, Dice& dice) {
    const std::size_t numbers = dice.below(64);
    part.facts["shape"] = {numbers};
    part.data.resize(numbers * width_of(part.facts["dtype"]));
}

void change_numbers(Part& part, Dice& dice) {
    const std::size_t width = width_of(part.facts["dtype"]);
    if (part.data.size() < width) return;
    const std::size_t at = width * dice.below(part.data.size() / width);
    if (width == 4 && dice.one_in(2)) {
        const float value = dice.number();
        std::memcpy(part.data.data() + at, &value, sizeof value);
    } else if (width == 8 && dice.one_in(2)) {
        const double value = dice.number();
        std::memcpy(part.data.data() + at, &value, sizeof value);
    } else {
        part.data.replace(at, width, bytes_of(dice.size()).substr(0, width));
    }
}

void change_metadata(File& file, std::size_t most, Dice& dice) {
    if (!file.metadata.is_object() || file.metadata.empty()) return;
    auto entry = file.metadata.begin();
    std::advance(entry, static_cast<std::ptrdiff_t>(dice.below(file.metadata.size())));
    if (dice.one_in(12)) {
        file.metadata.erase(entry);
    } else if (entry->is_string()) {
        *entry = mutate_json(entry->get<std::string>(), most, dice);
    }
}

void change_parts(File& file, Dice& dice) {
    if (file.parts.empty()) return;
    Part& part = file.parts[dice.below(file.parts.size())];
    switch (dice.below(8)) {
        case 0:
            part.name = dice.of<const char*>(
                {"weights", "scales", "theta", "beta", "omega", "operator", "operator.bits",
                 "operator.scale", "structure.offsets", "structure.rows", "basis", "best", "gain",
                 "step", "local", "prior", "cut", "operator.ones", "operator.rows"});
            break;
        case 1:
            part.facts["dtype"] = dice.of<const char*>({"F32", "U8", "F64", "U32", "I64", "F16"});
            break;
        case 2:
            file.parts.erase(file.parts.begin() + (&part - file.parts.data()));
            break;
        case 3:
        case 4:
            resize(part, dice);
            break;
        default:
            for (std::size_t changes = 1 + dice.below(3); changes > 0; --changes)
                change_numbers(part, dice);
    }
}

}  // namespace

std::string mutate_safetensors(std::string_view bytes, std::size_t most, Dice& dice) {
    if (bytes.size() < kLength + 2) return {};
    const std::size_t length =
        std::min<std::size_t>(number_at<std::uint64_t>(bytes, 0), bytes.size() - kLength);
    const std::string header(bytes.substr(kLength, length));
    const std::string_view data = bytes.substr(kLength + length);
    if (dice.one_in(8)) return with_length(mutate_json(header, most, dice), data);
    std::optional<File> file = unpack(header, data);
    if (!file) return with_length(mutate_bytes(header, most), data);
    if (dice.one_in(2))
        change_metadata(*file, most, dice);
    else
        change_parts(*file, dice);
    return pack(*file);
}

}  // namespace pibinn::fuzz
