#include "core/s3/credential_choice.h"

#include <gtest/gtest.h>

#include "core/s3/profiles.h"

namespace baton::s3 {
namespace {

using Environment = std::map<std::string, std::string>;

CredentialInput input_of(Environment environment, const std::string& credentials = "",
                         const std::string& config = "") {
    CredentialInput input;
    input.environment = std::move(environment);
    if (!credentials.empty()) input.credentials_file = credentials;
    if (!config.empty()) input.config_file = config;
    return input;
}

std::string chosen(const CredentialInput& input) {
    const auto source = choose_credentials(input);
    return source ? name_of(*source) : std::string(entry_of(source.error().code).name);
}

std::string message(const CredentialInput& input) {
    const auto source = choose_credentials(input);
    return source ? "" : source.error().message;
}

const std::string kFile =
    "# comment\n[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key=s#1\n"
    "[other]\naws_access_key_id=AKOTHER ; comment\naws_secret_access_key=s2\n"
    "aws_session_token = tok=en==\n";

TEST(CredentialChoiceTest, TheFirstSourceThatIsThereIsTaken) {
    Environment environment;
    CredentialInput input = input_of({}, kFile);
    input.of_url = Keys{.id = "AKURL", .secret = "s", .token = ""};
    input.environment = {
        {"AWS_ACCESS_KEY_ID", "AKENV"}, {"AWS_SECRET_ACCESS_KEY", "s"},
        {"AWS_PROFILE", "other"},       {"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"},
        {"AWS_ROLE_ARN", "arn"},        {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/c"}};
    EXPECT_EQ(chosen(input), "the URL");
    input.of_url.reset();
    EXPECT_EQ(chosen(input), "AWS_ACCESS_KEY_ID");
    input.environment.erase("AWS_ACCESS_KEY_ID");
    input.environment.erase("AWS_SECRET_ACCESS_KEY");
    EXPECT_EQ(chosen(input), "profile \"other\"");
    input.environment.erase("AWS_PROFILE");
    EXPECT_EQ(chosen(input), "profile \"default\"");
    input.credentials_file.reset();
    EXPECT_EQ(chosen(input), "STS at https://sts.amazonaws.com");
    input.environment.erase("AWS_WEB_IDENTITY_TOKEN_FILE");
    EXPECT_EQ(chosen(input), "the container's credential endpoint");
    input.environment.erase("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    EXPECT_EQ(chosen(input), "the metadata service at http://169.254.169.254");
    input.environment["AWS_EC2_METADATA_DISABLED"] = "TRUE";
    EXPECT_EQ(chosen(input), "missing_configuration");
}

TEST(CredentialChoiceTest, ProfilesAreReadAsAwsToolsReadThem) {
    const auto source = choose_credentials(input_of({{"AWS_PROFILE", "other"}}, kFile));
    ASSERT_TRUE(source);
    EXPECT_EQ(std::get<FixedKeys>(*source).keys,
              (Keys{.id = "AKOTHER", .secret = "s2", .token = "tok=en=="}));
    const auto standard = choose_credentials(input_of({}, kFile));
    EXPECT_EQ(std::get<FixedKeys>(*standard).keys.secret, "s#1");
    const std::string config =
        "[profile p]\r\nregion = eu-west-1\r\ns3 =\n    region = wrong\n"
        "aws_access_key_id = A\naws_secret_access_key = B\n[services x]\nregion = "
        "no\n[broken\nq=r\n";
    EXPECT_EQ(chosen(input_of({{"AWS_PROFILE", "p"}}, "", config)), "profile \"p\"");
    EXPECT_EQ(*choose_region(input_of({{"AWS_PROFILE", "p"}}, "", config)), "eu-west-1");
    // In the file of credentials a section is the profile's bare name.
    EXPECT_FALSE(read_profiles("[profile p]\na=b\n", ProfileFile::credentials).contains("p"));
}

TEST(CredentialChoiceTest, AProfileThatCannotBeUsedIsNamed) {
    EXPECT_NE(message(input_of({{"AWS_PROFILE", "none"}}, kFile)).find("\"none\""),
              std::string::npos);
    EXPECT_NE(message(input_of({{"AWS_PROFILE", "e"}}, "[e]\nregion=x\n")).find("\"e\""),
              std::string::npos);
    for (const char* const way : {"source_profile", "credential_process", "sso_session"}) {
        const std::string text = "[default]\nrole_arn = r\n" + std::string(way) + " = x\n";
        EXPECT_NE(message(input_of({}, text)).find(way), std::string::npos);
    }
}

TEST(CredentialChoiceTest, AProfileMayNameAWebIdentity) {
    const auto source =
        choose_credentials(input_of({{"AWS_REGION", "cn-north-1"}}, "",
                                    "[default]\nrole_arn = r\nweb_identity_token_file = /t\n"));
    ASSERT_TRUE(source);
    EXPECT_EQ(std::get<WebIdentity>(*source).endpoint, "https://sts.cn-north-1.amazonaws.com.cn");
    EXPECT_EQ(std::get<WebIdentity>(*source).session, "baton");
}

TEST(CredentialChoiceTest, HalfOfAPairIsRefused) {
    EXPECT_EQ(chosen(input_of({{"AWS_ACCESS_KEY_ID", "A"}})), "missing_configuration");
    EXPECT_EQ(chosen(input_of({{"AWS_SECRET_ACCESS_KEY", "secret-value"}})),
              "missing_configuration");
    EXPECT_EQ(message(input_of({{"AWS_SECRET_ACCESS_KEY", "secret-value"}})).find("secret-value"),
              std::string::npos);
    EXPECT_EQ(chosen(input_of({{"AWS_WEB_IDENTITY_TOKEN_FILE", "/t"}})), "missing_configuration");
}

TEST(CredentialChoiceTest, KeysThatCannotBeSentAreRefused) {
    for (const char* const secret : {"a b", "a\nb", "a\r\nx-header: y", "\xc3\xa4"}) {
        const CredentialInput input =
            input_of({{"AWS_ACCESS_KEY_ID", "A"}, {"AWS_SECRET_ACCESS_KEY", secret}});
        EXPECT_EQ(chosen(input), "invalid_configuration");
        EXPECT_EQ(message(input).find(secret), std::string::npos);
    }
    EXPECT_EQ(chosen(input_of({{"AWS_ACCESS_KEY_ID", "A/B"}, {"AWS_SECRET_ACCESS_KEY", "s"}})),
              "invalid_configuration");
}

TEST(CredentialChoiceTest, AContainerIsAskedOverTlsOrWithinTheMachine) {
    const auto of = [](const char* url) {
        return chosen(input_of({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", url}}));
    };
    for (const char* const url :
         {"https://far.example/x", "http://127.0.0.1:8080/x", "http://localhost/x",
          "http://[::1]:80/x", "http://169.254.170.23/v1/credentials", "http://[fd00:ec2::23]/x"}) {
        EXPECT_EQ(of(url), "the container's credential endpoint") << url;
    }
    for (const char* const url : {"http://far.example/x", "http://127.0.0.1@far.example/x",
                                  "ftp://127.0.0.1/x", "x", "http://127.0.0.1.far.example/"}) {
        EXPECT_EQ(of(url), "invalid_configuration") << url;
    }
    EXPECT_EQ(chosen(input_of({{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "@evil/x"}})),
              "invalid_configuration");
}

TEST(CredentialChoiceTest, RegionsComeFromTheNearestPlace) {
    CredentialInput input =
        input_of({{"AWS_REGION", "r2"}, {"AWS_DEFAULT_REGION", "r3"}}, "[default]\nregion=r4\n");
    input.region_of_url = "r1";
    EXPECT_EQ(*choose_region(input), "r1");
    input.region_of_url = "";
    EXPECT_EQ(*choose_region(input), "r2");
    input.environment.erase("AWS_REGION");
    EXPECT_EQ(*choose_region(input), "r3");
    input.environment.clear();
    EXPECT_EQ(*choose_region(input), "r4");
    input.credentials_file.reset();
    EXPECT_EQ(*choose_region(input), "");
    EXPECT_FALSE(choose_region(input_of({{"AWS_REGION", "evil.example/"}})));
}

TEST(CredentialChoiceTest, FilesAreBelowTheHomeUnlessSaidOtherwise) {
    EXPECT_EQ(credential_files({{"HOME", "/h"}}).credentials, "/h/.aws/credentials");
    EXPECT_EQ(credential_files({{"HOME", "/h"}}).config, "/h/.aws/config");
    EXPECT_EQ(credential_files({{"HOME", "/h"}, {"AWS_SHARED_CREDENTIALS_FILE", "/c"}}).credentials,
              "/c");
    EXPECT_EQ(credential_files({{"AWS_CONFIG_FILE", "/f"}}).config, "/f");
    EXPECT_EQ(credential_files({}).credentials, "");
}

TEST(CredentialChoiceTest, TemporaryKeysAreReadFromJsonAndXml) {
    const auto json =
        read_json_keys(R"({"Code":"Success","AccessKeyId":"A","SecretAccessKey":"S","Token":"T",)"
                       R"("Expiration":"2026-01-01T00:00:00Z"})");
    ASSERT_TRUE(json);
    EXPECT_EQ(json->keys, (Keys{.id = "A", .secret = "S", .token = "T"}));
    EXPECT_EQ(to_string(*json->expires), "2026-01-01T00:00:00.000000Z");
    const auto xml = read_role_keys(
        "<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>"
        "<AccessKeyId>A</AccessKeyId><SecretAccessKey>S</SecretAccessKey>"
        "<SessionToken>T</SessionToken><Expiration>2026-01-01T00:00:00Z</Expiration>"
        "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>");
    ASSERT_TRUE(xml);
    EXPECT_EQ(xml->keys, json->keys);
    for (const char* const text :
         {"", "{}", "[]", R"({"AccessKeyId":1})", R"({"AccessKeyId":"A","SecretAccessKey":"S\n"})",
          R"({"AccessKeyId":"A","SecretAccessKey":"S","Expiration":"soon"})"}) {
        EXPECT_FALSE(read_json_keys(text)) << text;
        EXPECT_FALSE(read_role_keys(text)) << text;
    }
}

}  // namespace
}  // namespace baton::s3
