// What holds for every descriptor and every configuration.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/descriptors/descriptors.h"

namespace baton::descriptors {

namespace {

std::vector<const Descriptor*> all_descriptors() {
    using enum DescriptorKind;
    std::vector<const Descriptor*> all = {&query_descriptor()};
    for (const DescriptorKind kind : {source, sink, input_format, output_format}) {
        for (const Descriptor& descriptor : descriptors(kind)) all.push_back(&descriptor);
    }
    return all;
}

const Descriptor& any_descriptor() {
    return **rc::gen::elementOf(all_descriptors());
}

std::string word() {
    static const std::string kLetters = "abcXYZ019_-/.:,|;\\nrt0 \"'";
    return *rc::gen::container<std::string>(rc::gen::elementOf(kLetters));
}

// Mostly a value that fits, sometimes any.
ConfigValue value_for(const Option& option) {
    if (*rc::gen::inRange(0, 10) == 0) {
        return *rc::gen::oneOf(
            rc::gen::map(rc::gen::arbitrary<bool>(), [](bool b) { return ConfigValue(b); }),
            rc::gen::map(rc::gen::arbitrary<std::int64_t>(),
                         [](std::int64_t i) { return ConfigValue(i); }),
            rc::gen::map(rc::gen::arbitrary<double>(), [](double d) { return ConfigValue(d); }),
            rc::gen::map(rc::gen::arbitrary<std::string>(),
                         [](std::string s) { return ConfigValue(std::move(s)); }));
    }
    if (option.key == "GENERATOR_SCHEMA") return std::string("SEQUENCE INT8 0 9 1, RANDOMSTR 1 2");
    if (option.key == "GENERATOR_RATE_CONFIG") return std::string("emit_rate 5");
    switch (option.type) {
        case OptionType::text:
        case OptionType::delimiter:
            return word();
        case OptionType::real:
            return *rc::gen::arbitrary<double>();
        case OptionType::boolean:
            return *rc::gen::arbitrary<bool>();
        case OptionType::choice:
            return std::string(*rc::gen::elementOf(option.choices));
        case OptionType::integer:
            break;
    }
    const std::int64_t least = std::max<std::int64_t>(option.least, -5);
    return *rc::gen::inRange<std::int64_t>(least, std::min<std::int64_t>(option.most, 999) + 1);
}

std::vector<GivenOption> any_options(const Descriptor& descriptor) {
    std::vector<GivenOption> given;
    for (const Option& option : descriptor.options) {
        if (!option.required && *rc::gen::inRange(0, 3) > 0) continue;
        given.push_back({std::string(option.key), value_for(option), {}});
    }
    return given;
}

std::vector<GivenOption> given_of(const Config& config) {
    std::vector<GivenOption> given;
    for (const auto& [key, value] : config) given.push_back({key, value, {}});
    return given;
}

RC_GTEST_PROP(CompleteProperty, OfACompleteConfigurationChangesNothing, ()) {
    const Descriptor& descriptor = any_descriptor();
    const auto config = complete(descriptor, any_options(descriptor));
    RC_PRE(config.has_value());
    const auto again = complete(descriptor, given_of(*config));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *config);
}

RC_GTEST_PROP(CompleteProperty, OfAnythingIsAnErrorOrHoldsEveryNeededKeyAndDefault, ()) {
    const Descriptor& descriptor = any_descriptor();
    const auto config = complete(descriptor, any_options(descriptor));
    if (!config) {
        RC_ASSERT(config.error().code == ErrorCode::invalid_configuration ||
                  config.error().code == ErrorCode::missing_configuration);
        return;
    }
    for (const Option& option : descriptor.options) {
        if (!option.required && !option.default_value) continue;
        RC_ASSERT(config->contains(std::string(option.key)));
    }
}

RC_GTEST_PROP(MaskedProperty, NoSecretSurvives, ()) {
    const Descriptor& descriptor = any_descriptor();
    const std::string secret = "hunter2" + word();
    Config config;
    for (const Option& option : descriptor.options) {
        const bool hide = option.secret;
        config[std::string(option.key)] = hide ? ConfigValue(secret) : value_for(option);
    }
    config[*rc::gen::element<std::string>("API_TOKEN", "SECRET", "CREDENTIALS", "OLD_PASSWORD")] =
        secret;
    const Config shown = masked(descriptor, config);
    RC_ASSERT(shown.size() == config.size());
    for (const auto& [key, value] : shown) {
        RC_ASSERT(value != ConfigValue(secret));
        RC_ASSERT(is_secret(&descriptor, key) || value == config.at(key) ||
                  config.at(key) != config.at(key));  // not a number is unlike itself
    }
}

TEST(CompleteProperty, EveryDefaultSatisfiesItsOwnOption) {
    for (const Descriptor* descriptor : all_descriptors()) {
        for (const Option& option : descriptor->options) {
            if (!option.default_value) continue;
            Descriptor alone = *descriptor;
            alone.options = {option};
            alone.check = nullptr;
            const auto config = complete(
                alone,
                std::vector<GivenOption>{{std::string(option.key), *option.default_value, {}}});
            ASSERT_TRUE(config.has_value()) << descriptor->name << " " << option.key;
            EXPECT_EQ(config->at(std::string(option.key)), *option.default_value) << option.key;
        }
    }
}

}  // namespace

}  // namespace baton::descriptors
