// Catalogs on servers that encrypt.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "catalog/schema.h"
#include "testing/servers/database_server.h"
#include "testing/temporary_directory.h"

namespace baton::testing {
namespace {

namespace fs = std::filesystem;

void shell(const std::string& command) {
    ASSERT_EQ(std::system((command + " >/dev/null 2>&1").c_str()), 0) << command;
}

// A certificate of this machine, which nobody else has signed, and one of a stranger.
class TlsFilesOfTest {
public:
    TlsFilesOfTest() {
        make("server", "localhost", "DNS:localhost,IP:127.0.0.1");
        make("other", "other.example", "DNS:other.example");
        fs::permissions(directory_.path(), fs::perms(0755));
    }
    [[nodiscard]] std::string operator/(const std::string& name) const { return directory_ / name; }

private:
    void make(const std::string& name, const std::string& host, const std::string& names) {
        shell(
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
            "-subj /CN=" +
            host + " -addext subjectAltName=" + names + " -keyout " + (directory_ / name) +
            ".key -out " + (directory_ / name) + ".pem");
        fs::permissions(directory_ / (name + ".key"), fs::perms(0600));
        // Servers do not run as root.
        if (::geteuid() == 0) shell("chown nobody " + (directory_ / name) + ".key");
    }
    TemporaryDirectory directory_;
};

std::vector<std::string> with_tls(ServerKind kind, const std::string& cert,
                                  const std::string& key) {
    if (kind == ServerKind::mariadb) return {"--ssl-cert=" + cert, "--ssl-key=" + key};
    return {"-c", "ssl=on", "-c", "ssl_cert_file=" + cert, "-c", "ssl_key_file=" + key};
}

// "" if it can be used; otherwise why not.
std::string opened(ServerKind kind, const std::string& url) {
    const auto database = open_server_database(kind, url, catalog::migrate);
    if (!database) return to_string(database.error());
    const auto sql = (*database)->connect(Access::read);
    if (!sql) return to_string(sql.error());
    const auto encrypted =
        kind == ServerKind::mariadb
            ? (*sql)->query(
                  "SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE "
                  "VARIABLE_NAME = 'SSL_VERSION'")
            : (*sql)->query("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()");
    if (!encrypted) return to_string(encrypted.error());
    const auto* version = std::get_if<std::string>(&encrypted->at(0).at(0));
    return version == nullptr || !version->starts_with("TLSv1.") ? "it is not encrypted" : "";
}

class TlsTest : public ::testing::TestWithParam<ServerKind> {};

TEST_P(TlsTest, ACatalogIsEncryptedAndItsServerVerified) {
    const TlsFilesOfTest files;
    DatabaseServer server(GetParam(),
                          with_tls(GetParam(), files / "server.pem", files / "server.key"));
    const std::string url = server.new_database();
    EXPECT_EQ(opened(GetParam(), url + "?sslmode=require"), "");
    EXPECT_EQ(
        opened(GetParam(), url + "?sslmode=verify-full&sslrootcert=" + (files / "server.pem")), "");
    const std::string refused =
        opened(GetParam(), url + "?sslmode=verify-full&sslrootcert=" + (files / "other.pem"));
    EXPECT_NE(refused, "");
    EXPECT_NE(refused, "it is not encrypted");
    const std::string unknown = opened(GetParam(), url + "?sslmode=verify-full");
    EXPECT_NE(unknown, "") << "nobody on this machine trusts its certificate";
    EXPECT_NE(unknown, "it is not encrypted");
}

TEST_P(TlsTest, ACertificateOfAnotherHostIsRefused) {
    const TlsFilesOfTest files;
    DatabaseServer server(GetParam(),
                          with_tls(GetParam(), files / "other.pem", files / "other.key"));
    const std::string url = server.new_database();
    const std::string refused =
        opened(GetParam(), url + "?sslmode=verify-full&sslrootcert=" + (files / "other.pem"));
    EXPECT_NE(refused, "");
    EXPECT_NE(refused, "it is not encrypted");
}

TEST_P(TlsTest, AServerThatDoesNotEncryptIsRefusedIfThatIsWanted) {
    auto& server = DatabaseServer::shared(GetParam());
    for (const std::string mode : {"require", "verify-full"}) {
        const std::string refused = opened(GetParam(), server.new_database() + "?sslmode=" + mode);
        EXPECT_NE(refused, "") << mode;
        EXPECT_NE(refused, "it is not encrypted") << mode;
    }
}

TEST(TlsUrl, OfMariadbIsReadStrictly) {
    for (const std::string& options :
         {std::string("sslmode=prefer"), std::string("ssl=true"), std::string("sslcert=a"),
          std::string("sslmode=disable&sslrootcert=a"), std::string("sslmode")}) {
        const auto opened =
            open_server_database(ServerKind::mariadb, "mysql://root@127.0.0.1:1/d?" + options);
        ASSERT_FALSE(opened) << options;
        EXPECT_EQ(opened.error().code, ErrorCode::invalid_configuration) << options;
    }
}

INSTANTIATE_TEST_SUITE_P(Servers, TlsTest,
                         ::testing::Values(ServerKind::postgres, ServerKind::mariadb),
                         [](const auto& one) {
                             return one.param == ServerKind::postgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace baton::testing
